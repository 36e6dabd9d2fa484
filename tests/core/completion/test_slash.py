"""What is wanted at a caret, which candidates fit, and that every mention that is offered is read back as its path."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.completion.shell import in_shell, shell_word
from smith_core.completion.slash import Candidate, as_mention, fitting, wanted_at
from smith_core.tools.attach import mentions


@pytest.mark.parametrize(
    ("marked", "kind", "query", "replaced"),
    [
        ("/|", "command", "", "/"),
        ("/mo|del x", "command", "mo", "/model"),
        ("/config |", "argument", "", ""),
        ("/config set ui.th|eme dark", "argument", "ui.th", "ui.theme"),
        ("/load fix the t|", "argument", "fix the t", "fix the t"),
        ("look at @src/ma| please", "mention", "src/ma", "@src/ma"),
        ("(@a|", "mention", "a", "@a"),
        ('read @"my fi|le.txt" now', "mention", "my fi", '@"my file.txt"'),
        ("/review @src/x|", "mention", "src/x", "@src/x"),
        ("two\nlines @|", "mention", "", "@"),
        ("!gi|t log", "program", "gi", "git"),
        ("!!LANG=C sudo|", "program", "sudo", "sudo"),
        ("!cat x && so|", "program", "so", "so"),
        ("!(cd a && l|", "program", "l", "l"),
        ("!./ru|n.sh", "path", "./ru", "./run.sh"),
        ("!cat src/ma|", "path", "src/ma", "src/ma"),
        ("!cat my\\ fi|le\\ 2.txt x", "path", "my fi", "my\\ file\\ 2.txt"),
        ("!cat 'it is \"|", "path", 'it is "', "'it is \""),
        ('!cat "a\\"b\\c|', "path", 'a"b\\c', '"a\\"b\\c'),
        ("!sort <in >ou|", "path", "ou", "ou"),
        ("!make --dir=sr|", "path", "sr", "sr"),
        ("!cat |", "path", "", ""),
        ("/export html my pa|ge", "argument", "my pa", "my page"),
        ("/export ./a b|", "argument", "./a b", "./a b"),
    ],
)
def test_what_is_wanted_at_the_caret(marked: str, kind: str, query: str, replaced: str) -> None:
    caret, text = marked.index("|"), marked.replace("|", "", 1)
    wanted = wanted_at(text, caret)
    assert wanted is not None
    assert (wanted.kind, wanted.query, text[wanted.start : wanted.end]) == (kind, query, replaced)


@pytest.mark.parametrize(
    "marked",
    ["hello|", "me@host|", "!|", "!ls -l|", "!echo $HO|", " /model|", "a /b|", "/record x\ny|", "@a |", "|/mo"],
)
def test_where_nothing_is_wanted(marked: str) -> None:
    assert wanted_at(marked.replace("|", "", 1), marked.index("|")) is None


def test_words_before_an_argument_are_known() -> None:
    wanted = wanted_at("/config  set  ui.theme da", 25)
    assert wanted is not None
    assert (wanted.command, wanted.words, wanted.query) == ("config", ("set", "ui.theme"), "da")


@given(st.text(min_size=1, max_size=12), st.text("ab@\"' /.", min_size=1, max_size=12))
def test_a_mention_is_read_back_as_its_path(any_text: str, awkward: str) -> None:
    for path in (any_text, awkward):
        mention = as_mention(path)
        if mention is not None:
            assert next(mentions(f"see {mention} "), None) == path


@given(st.text(min_size=1, max_size=12), st.text("a \"'\\$`~!*(;=-/#", min_size=1, max_size=12))
def test_a_path_in_a_line_for_the_shell_is_read_back_as_it_is(any_text: str, awkward: str) -> None:
    for path in (any_text, awkward):
        written = in_shell(path)
        if written is not None and "=" not in path:
            assert shell_word(f"cat {written}").text == path
            split = shlex.split(f"cat {written}")
            assert split == ["cat", path] or any(character.isspace() for character in path)


def test_the_best_come_first_and_letters_in_order_only_without_better() -> None:
    names = [Candidate(name, name) for name in ("/undelete", "/delete", "/model", "/mud-or-cay")]
    assert [found.text for found in fitting("del", names)] == ["/delete", "/model", "/undelete"]
    assert [found.text for found in fitting("mdl", names)] == ["/model"]
    assert [found.text for found in fitting("muy", names)] == ["/mud-or-cay"]
    assert fitting("xyz", names) == ()
    assert [found.text for found in fitting("", names)] == [name.text for name in names]


def test_the_words_of_a_title_fit_in_any_order() -> None:
    titles = [Candidate("c1", "Fix the total"), Candidate("c2", "Other work")]
    assert [found.text for found in fitting("total fix", titles)] == ["c1"]
