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


@pytest.mark.parametrize(
    "typed", ["--help", "run --help", "store --help", "store check --help", "model install --help"]
)
def test_a_parser_made_for_what_was_typed_says_what_the_whole_one_says(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for parser in (build_parser(), build_parser(typed.split())):
        with pytest.raises(SystemExit):
            parser.parse_args(typed.split())
    said = capsys.readouterr().out
    assert said[: len(said) // 2] == said[len(said) // 2 :] != ""


@pytest.mark.parametrize(
    "typed",
    [
        "--set a.b=1 run --set c.d=2 --model x task --json",
        "--model store run task",
        "model list",
        "store import file --with-settings",
        "host stop",
        "setup --role direct",
        "tour --plain",
        "doctor --config f",
        "rain",
        "completion zsh",
        "--resume run",
    ],
)
def test_a_parser_made_for_what_was_typed_reads_it_as_the_whole_one_does(typed: str) -> None:
    words = typed.split()
    assert vars(build_parser(words).parse_args(words)) == vars(build_parser().parse_args(words))
