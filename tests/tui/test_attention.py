"""When a person in another window is called, and that no word but ours is written for it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.config.shape import UiConfig
from smith_core.errors import AgentError
from smith_core.events import AnyEvent, ChildEvent, PermissionRequested, TurnEnded, TurnStarted
from smith_core.messages import StopReason, TurnResult
from smith_tui.attention import LONG_TURN_S, Attention
from smith_tui.output.calling import call_sequence

ENDED, ASKS = "\x1b]9;Smith: the turn has ended\x07", "\x1b]9;Smith asks\x07"
QUESTION = PermissionRequested(
    call_id="c", name="\x1b]0;bash\x07", arguments='{"command": "rm -rf secret"}', covers="\x1b[2J", role="direct"
)
BEGUN = TurnStarted(turn_id="t", conversation_id="c", role="direct", text="a secret")


class Window:
    """A window that has lost the focus, and what was written to it."""

    def __init__(self, way: str = "desktop", environ: dict[str, str] | None = None) -> None:
        self.written: list[str] = []
        self.settings = UiConfig(notify=way)
        self.is_away = True
        self.goes_on = False
        self.now = 100.0
        self.attention = Attention(
            self.written.append,
            settings=lambda: self.settings,
            is_away=lambda: self.is_away,
            goes_on=lambda: self.goes_on,
            environ={"TERM": "xterm-256color", **(environ or {})},
            clock=lambda: self.now,
        )

    def turn(self, stop_reason: StopReason = "completed", seconds: float = LONG_TURN_S) -> list[str]:
        """Have a turn run, and return what was written for it."""
        self.written.clear()
        self.attention.note(BEGUN)
        self.now += seconds
        error = AgentError(kind="internal", code="x", message="\x1b[2Jx") if stop_reason == "error" else None
        self.attention.note(
            TurnEnded(
                result=TurnResult(
                    turn_id="t",
                    conversation_id="c",
                    role="direct",
                    stop_reason=stop_reason,
                    text="\x1b]0;a secret\x07",
                    error=error,
                )
            )
        )
        return list(self.written)


def test_only_the_end_of_a_long_turn_calls() -> None:
    window = Window()
    assert window.turn() == [ENDED]
    assert window.turn(seconds=LONG_TURN_S - 0.1) == []
    assert window.turn("error") == [ENDED]
    assert window.turn("budget_exhausted") == [ENDED]
    assert window.turn("cancelled") == []


def test_a_turn_behind_which_another_prompt_waits_calls_only_when_that_one_is_not_sent() -> None:
    window = Window()
    window.goes_on = True
    assert window.turn() == []
    assert window.turn("error") == [ENDED]


@pytest.mark.parametrize("question", [QUESTION, ChildEvent(job_id="j", role="worker", event=QUESTION)])
def test_a_question_calls_at_once(question: AnyEvent) -> None:
    window = Window()
    window.attention.note(BEGUN)
    window.attention.note(question)
    assert window.written == [ASKS]


def test_nobody_is_called_who_is_there_or_does_not_want_it() -> None:
    window = Window()
    window.is_away = False
    window.attention.note(QUESTION)
    assert window.turn() == []
    window.is_away = True
    window.settings = UiConfig()
    window.attention.note(QUESTION)
    assert window.turn() == []
    window.settings = UiConfig(notify="bell")
    assert window.turn() == ["\x07"]


@pytest.mark.parametrize(
    ("environ", "sequence"),
    [
        ({"TERM": "xterm-kitty"}, ASKS),
        ({"TERM": "foot-extra"}, "\x1b]777;notify;Smith;Smith asks\x07"),
        ({"TERM": "rxvt-unicode-256color"}, "\x1b]777;notify;Smith;Smith asks\x07"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7006"}, "\x1b]777;notify;Smith;Smith asks\x07"),
        ({"TERM": "linux"}, "\x07"),
        ({}, "\x07"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/t,1,0"}, "\x1bPtmux;\x1b\x1b]9;Smith asks\x07\x1b\\"),
        ({"TERM": "screen-256color", "STY": "1.pts"}, "\x1bP\x1b]9;Smith asks\x07\x1b\\"),
    ],
)
def test_each_terminal_is_told_in_one_form_that_it_knows(environ: dict[str, str], sequence: str) -> None:
    assert call_sequence("desktop", "Smith asks", environ) == sequence
    assert call_sequence("bell", "Smith asks", environ) == "\x07"


@given(st.dictionaries(st.sampled_from(["TERM", "TMUX", "STY", "VTE_VERSION"]), st.text()))
def test_nothing_of_the_environment_is_written(environ: dict[str, str]) -> None:
    shown = re.sub(
        r"\x1b(?:Ptmux;|P|\\|\]9;|\]777;notify;Smith;)|\x1b|\x07", "", call_sequence("desktop", "Smith asks", environ)
    )
    assert shown in ("", "Smith asks")
