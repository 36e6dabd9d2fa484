"""Which programs may share a host: those with equal code, libraries and environment, as far as it matters for calls."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from smith_core.llm.host_stamp import (
    HostStamp,
    code_digest,
    environment_digest,
    has_cloud_credentials,
    is_read_by_libraries,
    is_withheld,
    shared_environment,
    stamp_for,
)

PLAIN = {"HOME": "/home/a", "PATH": "/x", "TERM": "xterm", "PWD": "/p", "LLM_API_KEY": "sk-SECRET", "MY_VAR": "1"}

_READS = re.compile(
    r"""(?:getenv|environ\.get|environ\.pop|get_secret(?:_str|_bool)?)\(\s*["'](\w+)["']"""
    r"""|environ\[["'](\w+)["']\]|["'](\w+)["'] in os\.environ"""
)
_NO_CALLS = {"proxy", "integrations", "secret_managers", "caching", "vector_stores", "mcp_client", "batches"}
"""Parts of litellm that no chat completion of ours goes through: its server, logging, vaults, caches and files."""

_NOT_FOR_CALLS = re.compile(
    r"AGENT\w*|ALACRITTY_\w+|APSCHEDULER_\w+|BACKGROUND_\w+|CLICKHOUSE_\w+|CLI_SSO_\w+|DATAFORSEO_\w+|DD_\w+"
    r"|DEFAULT_\w+|GCS_\w+|GNOME_\w+|ITERM_\w+|JSON_LOGS|KITTY_\w+|KONSOLE_\w+|LANGTRACE_\w+|MCP_\w+|MICROSOFT_\w+"
    r"|NO_COLOR|OTEL_\w+|PROXY_BATCH_\w+|REDIS_\w+|S3_VECTORS_\w+|SENTRY_DSN|SLACK_\w+|SPACE_ID|SPEND_LOG_\w+"
    r"|TERM\w*|USE_DD\w+|VTE_VERSION|WEZTERM_\w+|WT_SESSION"
)
"""Names for logging, its own server, other services, and the terminal that litellm names in one provider's header."""


def digest_of(**changes: str) -> str:
    return environment_digest(shared_environment({**PLAIN, **changes}, ("LLM_API_KEY",)))


@pytest.mark.parametrize(
    "name",
    ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "OPENAI_API_BASE", "HOME",
     "ANTHROPIC_BASE_URL", "ANY_NEW_PROVIDER_API_BASE", "AWS_REGION", "LITELLM_LOG", "PYTHONPATH", "LD_PRELOAD"],
)  # fmt: skip
def test_what_changes_calls_makes_another_host(name: str) -> None:
    assert digest_of(**{name: "/a"}) != digest_of()
    assert digest_of(**{name: "/a"}) != digest_of(**{name: "/b"})


@pytest.mark.parametrize("name", ["TERM", "PWD", "PATH", "SHLVL", "KITTY_WINDOW_ID", "DATABASE_URL", "LLM_API_KEY"])
def test_what_belongs_to_a_terminal_or_a_project_does_not(name: str) -> None:
    assert digest_of(**{name: "other"}) == digest_of()


def test_a_shared_host_has_no_secret_and_nothing_that_its_stamp_does_not_cover() -> None:
    environ = {**PLAIN, "AWS_SECRET_ACCESS_KEY": "SECRET", "HF_TOKEN": "SECRET", "VERTEXAI_CREDENTIALS": "SECRET"}
    environment = shared_environment({**environ, "OTHER_BASE_URL": "sk-SECRET"}, ("OTHER_BASE_URL",))
    assert "SECRET" not in repr(environment)
    assert "MY_VAR" not in environment and environment["PATH"] == os.defpath
    assert environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


def test_every_variable_that_litellm_reads_for_a_call_is_on_the_list() -> None:
    spec = find_spec("litellm")
    assert spec is not None and spec.origin is not None
    package = Path(spec.origin).parent
    names: set[str] = set()
    for file in package.rglob("*.py"):
        if not _NO_CALLS.intersection(file.relative_to(package).parts):
            names.update(next(filter(None, match.groups())) for match in _READS.finditer(file.read_text()))
    assert len(names) > 300
    unknown = {name for name in names if not (is_read_by_libraries(name) or is_withheld(name))}
    assert [name for name in sorted(unknown) if not _NOT_FOR_CALLS.fullmatch(name)] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("AWS_SECRET_ACCESS_KEY", True), ("GOOGLE_APPLICATION_CREDENTIALS", True), ("AZURE_CLIENT_SECRET", True),
     ("OPENAI_API_KEY", False), ("GEMINI_API_KEY", False), ("GITHUB_TOKEN", False), ("AWS_REGION", False)],
)  # fmt: skip
def test_credentials_of_clouds_are_told_from_keys_that_a_request_brings(name: str, expected: bool) -> None:
    assert has_cloud_credentials({**PLAIN, name: "x"}) is expected


def test_the_stamp_changes_with_our_files_and_with_what_is_installed(tmp_path: Path) -> None:
    package, libraries = tmp_path / "ours" / "llm", tmp_path / "site"
    for folder in (package, libraries / "litellm"):
        folder.mkdir(parents=True)
    (package / "host.py").write_text("a")
    (libraries / "litellm" / "__init__.py").touch()
    digests = []
    for change in (
        lambda: None,
        lambda: (package / "host.py").write_text("ab"),
        lambda: (package.parent / "errors.py").touch(),
        lambda: (libraries / "httpx-0.29.dist-info").mkdir(),
        lambda: os.utime(libraries / "litellm" / "__init__.py", (1, 1)),
    ):
        change()
        digests.append(code_digest(package, [str(tmp_path / "none"), str(libraries)]))
    assert len(set(digests)) == 5
    assert code_digest(package, [str(libraries)]) == digests[-1]


def test_the_name_of_a_socket_says_all_three() -> None:
    stamp = stamp_for(PLAIN)
    assert stamp.file_name == f"host-{stamp.install}-{stamp.code}-{stamp.environment}.sock"
    assert stamp == stamp_for(dict(PLAIN)) != stamp_for({**PLAIN, "HOME": "/b"})
    assert HostStamp("a", "b", "c").file_name == "host-a-b-c.sock"
