"""What the command line says about words that it does not know."""

import pytest

from smith_tui.command_line import build_parser


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("rnu", "there is no command rnu; did you mean run?"),
        ("fix the bug", "there is no command fix; a task goes into quotes: smith-tui run"),
        ("--modl x", "there is no option --modl; did you mean --model?"),
        ("--model x fix it", "there is no command fix"),
        ("completion", "{bash,zsh,fish}"),
    ],
)
def test_an_unknown_word_is_answered_with_the_likely_one(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(typed.split())
    assert ended.value.code == 2 and said in capsys.readouterr().err
