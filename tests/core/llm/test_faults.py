"""Refusals, limits and keys: the right code, a sentence with a next step, and never a piece of the key."""

import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, formatdate
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.errors import AgentError
from smith_core.llm.faults import (
    FAULTS,
    Target,
    excerpt,
    fault,
    safe_address,
    timeout_fault,
)
from smith_core.llm.keys import clean_key, redact
from smith_core.llm.protocol import Endpoint, Timeouts
from smith_core.llm.refusals import error_inside, refusal
from smith_core.llm.waits import parse_retry_after, wait_named_in

KEY = "sk-test-SECRET123"
TARGET = Target(model="m1", endpoint=Endpoint(api_url="https://api.example/v1", api_key=KEY, api_key_env="LLM_API_KEY"))


def error_body(message: str, code: str | None = None) -> str:
    return msgspec.json.encode({"error": {"message": message, "type": "error", "code": code}}).decode()


@pytest.mark.parametrize(
    ("status", "body", "code", "retryable"),
    [
        (400, error_body("bad tools[0]"), "bad_request", False),
        (401, error_body("no"), "unauthorized", False),
        (402, error_body("pay"), "quota_exhausted", False),
        (403, error_body("no"), "forbidden", False),
        (404, error_body("no such model"), "not_found", False),
        (405, "", "not_found", False),
        (408, "", "server_error", True),
        (409, "", "server_error", True),
        (413, error_body("body too big"), "too_large", False),
        (422, error_body("bad"), "bad_request", False),
        (425, "", "server_error", True),
        (429, error_body("slow down"), "rate_limited", True),
        (429, error_body("You exceeded your current quota", "insufficient_quota"), "quota_exhausted", False),
        (429, error_body("Your credit balance is too low"), "quota_exhausted", False),
        (500, error_body("boom"), "server_error", True),
        (501, "", "server_error", True),
        (502, "<html>Bad gateway</html>", "server_error", True),
        (503, "", "server_error", True),
        (529, error_body("overloaded", "overloaded_error"), "server_error", True),
        (418, "", "bad_request", False),
        (302, "", "bad_answer", False),
        (400, error_body("too long", "context_length_exceeded"), "context_too_long", False),
        (400, error_body("This model's maximum context length is 8192 tokens. However"), "context_too_long", False),
        (400, error_body("the request exceeds the available context size"), "context_too_long", False),
        (400, error_body("prompt is too long: 210000 tokens > 200000 maximum"), "context_too_long", False),
        (413, error_body("Please reduce the length of the messages"), "context_too_long", False),
        (400, '{"error":{"code":400,"message":"x","type":"exceed_context_size_error"}}', "context_too_long", False),
    ],
)
def test_every_status_has_its_code(status: int, body: str, code: str, retryable: bool) -> None:
    error = refusal(status, {}, body, TARGET)
    assert (error.code, error.retryable) == (code, retryable)
    assert error.kind == FAULTS[code].kind
    if code not in ("context_too_long", "bad_answer"):
        assert error.data["status"] == status
    assert "https://api.example/v1" in error.message and "m1" in error.message


GEMINI_SAYS = "You exceeded your current quota, please check your plan and billing details."
GEMINI = {
    "code": 429,
    "message": f"{GEMINI_SAYS}\n* Quota exceeded for metric: x, limit: 10\nPlease retry in 20.04s.",
    "status": "RESOURCE_EXHAUSTED",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s"}],
}
OPENAI_SAYS = "Rate limit reached for m on tokens per min (TPM): Limit 10000, Requested 3000. "
OPENAI_ADVISES = "You can increase your rate limit by adding a payment method at https://p.example/account/billing."


@pytest.mark.parametrize(
    ("status", "error", "code", "wait_s"),
    [
        (429, GEMINI, "rate_limited", 20.04),
        (429, {**GEMINI, "message": GEMINI_SAYS}, "rate_limited", 20.0),
        (429, {**GEMINI, "message": GEMINI_SAYS, "details": []}, "quota_exhausted", None),
        (429, {"message": OPENAI_SAYS + "Please try again in 20s. " + OPENAI_ADVISES}, "rate_limited", 20.0),
        (429, {"message": OPENAI_SAYS + OPENAI_ADVISES, "code": "rate_limit_exceeded"}, "rate_limited", None),
        (429, {"message": OPENAI_SAYS + OPENAI_ADVISES, "type": "rate_limit_error", "code": 429}, "rate_limited", None),
        (429, {"message": "retry in 20s", "code": "insufficient_quota"}, "quota_exhausted", 20.0),
        (429, {"message": "retry in 20s", "type": "exceeded_current_quota_error"}, "quota_exhausted", 20.0),
        (429, {"message": "no", "code": "billing_hard_limit_reached"}, "quota_exhausted", None),
        (403, {"message": "check your billing"}, "quota_exhausted", None),
        (413, {"message": "too large for TPM, try again", "code": "rate_limit_exceeded"}, "too_large", None),
        (503, {"message": "overloaded, try again in 5 seconds"}, "server_error", 5.0),
    ],
)
def test_a_limit_for_a_moment_is_told_from_an_account_that_is_used_up(
    status: int, error: dict[str, Any], code: str, wait_s: float | None
) -> None:
    for body in ({"error": error}, [{"error": error}]):
        refused = refusal(status, {}, msgspec.json.encode(body).decode(), TARGET)
        assert (refused.code, refused.data.get("retry_after_s")) == (code, wait_s)
        assert refused.retryable == FAULTS[code].retryable
    inside = error_inside({"error": {**error, "status_code": status}}, TARGET)
    assert (inside.code, inside.data.get("retry_after_s")) == (code, wait_s)


def test_a_used_up_account_inside_a_stream_is_known_by_its_code() -> None:
    error = error_inside({"error": {"message": "no more, try again in 9s", "code": "insufficient_quota"}}, TARGET)
    assert (error.code, error.retryable, error.data["status"]) == ("quota_exhausted", False, 429)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ("Please retry in 20.040512s.", 20.040512),
        ("Please try again in 6m0s. Visit", 360.0),
        ("try again in 1h2m3.5s", 3723.5),
        ("Try again in 250ms", 0.25),
        ("Please retry after 22 seconds.", 22.0),
        ("try again in 1 minute, 5 seconds", 65.0),
        ('retry in 2s ... \\"retryDelay\\": \\"31s\\"', 31.0),
        ("{'retry_delay': '7s'}", 7.0),
        ("try again in 20 sheep", None),
        ("try again in a moment", None),
        ("try again in 5", None),
        ("I was asked to wait 20s", None),
        ("", None),
    ],
)
def test_a_wait_is_read_out_of_the_words(body: str, seconds: float | None) -> None:
    assert wait_named_in(body) == (None if seconds is None else pytest.approx(seconds))


def test_a_header_goes_before_a_wait_in_the_body() -> None:
    error = refusal(429, {"retry-after": "3"}, "try again in 20s", TARGET)
    assert error.data["retry_after_s"] == 3.0


@pytest.mark.parametrize(("key", "said"), [("sk-12345678", "KEY was refused; leave, export"), ("", "KEY is not set;")])
def test_a_401_says_whether_a_key_was_sent_at_all(key: str, said: str) -> None:
    target = Target(model="m", endpoint=Endpoint(api_url="http://h/v1", api_key=key, api_key_env="KEY"))
    assert said in refusal(401, {}, "no", target).message


def test_the_401_names_the_variable_and_what_to_do() -> None:
    message = refusal(401, {}, error_body("Incorrect API key"), TARGET).message
    assert "401" in message and "the key in LLM_API_KEY was refused" in message and "llm_config.api_key_env" in message


@pytest.mark.parametrize("code", FAULTS)
def test_every_sentence_is_one_line_that_names_a_next_step(code: str) -> None:
    message = fault(code, TARGET, detail="x", limit=3, setting="timeout", status=500).message
    assert "\n" not in message and "{" not in message
    assert re.search(r"check|set|try|raise|wait|start|choose|top it up|install", message)


def test_b27_a_body_that_repeats_the_key_is_cleaned() -> None:
    bodies = [
        error_body(f"Incorrect API key provided: {KEY}"),
        f"plain text with {KEY} in it",
        error_body("Incorrect API key provided: sk-test-****T123."),
        error_body("Bearer " + KEY.upper()),
        error_body(" ".join(KEY)),
        "x" * 5990 + KEY,
    ]
    for status in (400, 401, 403, 429, 500):
        for body in bodies:
            error = refusal(status, {"x-key": KEY}, body, TARGET)
            text = repr(error).lower()
            assert not any(piece in text for piece in ("secret", "t123", "sk-test")), text


@given(before=st.text(max_size=30), after=st.text(max_size=30), start=st.integers(0, 12), length=st.integers(4, 17))
def test_b27_no_piece_of_the_key_survives(before: str, after: str, start: int, length: int) -> None:
    piece = KEY[start : start + length]
    cleaned = redact(before + piece + after, KEY).replace("[key]", " ")
    pieces = [KEY[at : at + 4].lower() for at in range(len(KEY) - 3)]
    assert not any(fragment in cleaned.lower() for fragment in pieces)


def test_a_short_key_is_cut_out_as_a_word_only() -> None:
    assert redact("key k1 in k123", "k1") == "key [key] in k123"
    assert redact("nothing", "") == "nothing"


@pytest.mark.parametrize("raw", ["sk-1", "  sk-1\n", "\tsk-1\r\n", "sk-1 "])
def test_a_key_is_freed_of_blanks_around_it(raw: str) -> None:
    assert clean_key(raw) == "sk-1"


@pytest.mark.parametrize(
    "raw", ["sk-S3CR ET", "sk-S3CR\nET", "\ufeffsk-S3CRET", "sk-S3CRÉT", "sk-S3CR\0ET", "sk-S3CR\x1bET"]
)
def test_a_key_that_no_header_may_carry_is_refused_without_repeating_it(raw: str) -> None:
    error = clean_key(raw)
    assert isinstance(error, AgentError)
    assert error.kind == "policy" and error.code == "bad_key" and "S3CR" not in repr(error)


def test_an_empty_key_is_no_error() -> None:
    assert clean_key(" \n") == ""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": "Wed, 99 Foo 20x5"}, None),
    ],
)
def test_retry_after_in_seconds_or_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers) == seconds


def test_retry_after_as_a_date_to_come() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    seconds = parse_retry_after({"Retry-After": date})
    assert seconds is not None and 28 < seconds <= 30


def test_retry_after_is_in_the_data() -> None:
    assert refusal(429, {"Retry-After": "2"}, "", TARGET).data == {"status": 429, "retry_after_s": 2.0}


def test_foreign_text_is_one_short_line_without_escapes() -> None:
    line = excerpt("a\x1b[31m\nb\0\x9b" + "\u202e" + "x" * 9000 + "\ud83d", "")
    assert len(line) == 300 and line.isprintable()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:pa55@host:8443/v1?key=SECRET#x", "https://host:8443/v1"),
        ("http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/"),
        ("", ""),
        ("http://[::1", ""),
    ],
)
def test_addresses_in_messages_hold_no_secrets(address: str, shown: str) -> None:
    assert safe_address(address) == shown


@pytest.mark.parametrize(
    "code", ["timeout_connect", "timeout_send", "timeout_first_byte", "timeout_total", "stream_stalled"]
)
def test_limits_name_their_setting_and_value(code: str) -> None:
    limits = Timeouts(timeout=1.5, connect_timeout=1.5, send_timeout=1.5, recv_timeout=1.5, stream_stall_timeout=1.5)
    error = timeout_fault(code, TARGET, limits)
    assert error.kind == "transport" and error.retryable
    assert "1.5 s" in error.message and re.search(r"llm_config\.\w*timeout", error.message)


@given(st.text(max_size=200), st.integers(100, 599), st.dictionaries(st.text(max_size=5), st.text(max_size=9)))
def test_any_refusal_becomes_an_error_that_can_be_stored(body: str, status: int, headers: dict[str, Any]) -> None:
    error = refusal(status, headers, body, TARGET)
    msgspec.json.encode(error.message)
    assert error.message.isprintable()


@pytest.mark.parametrize("text", ["sk-t", "retry in 1s ", "try again in 999999999", "retryDelay: ", "exceed"])
def test_the_error_body_is_never_read_slowly(text: str) -> None:
    started = time.process_time()
    refusal(500, {}, text * (2_000_000 // len(text)), TARGET)
    assert time.process_time() - started < 1
