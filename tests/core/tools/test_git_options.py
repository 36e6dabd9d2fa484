"""What the git tool lets through: no value ever becomes another option."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.tools.git_excerpt import excerpt_diff
from smith_core.tools.git_options import OPTIONS, GitCall, check_arguments
from smith_core.tools.git_safety import git_argv, named_programs
from smith_core.tools.shares import fair_shares


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("log -5", "-5"),
        ("log -n 5 --oneline", "-n5 --oneline"),
        ("log -n5", "-n5"),
        ("log --max-count=5", "--max-count=5"),
        ("log --max-count 5", "--max-count=5"),
        ("log --author --output=x", "--author=--output=x"),
        ("log -S -x", "-S-x"),
        ("status -sb", "-s -b"),
        ("status --porcelain=v2", "--porcelain=v2"),
        ("status -uno", "-uno"),
        ("diff --stat=80 --cached -U0 -M90%", "--stat=80 --cached -U0 -M90%"),
        ("blame -w -L 10,20", "-w -L10,20"),
        ("show --format=%h%x09%s", "--format=%h%x09%s"),
        ("log --pretty=format:%C(auto)%h", "--pretty=format:%C(auto)%h"),
    ],
)
def test_options_become_single_words(line: str, words: str) -> None:
    subcommand, *rest = line.split()
    assert check_arguments(subcommand, rest) == GitCall(subcommand=subcommand, options=tuple(words.split()))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("push origin", "only looks, with status, log, diff, show, blame"),
        ("", "only looks"),
        ("log --output=/tmp/x", "does not take --output here; it takes: -p, --patch"),
        ("diff --ext-diff", "does not take --ext-diff"),
        ("diff --no-index a b", "does not take --no-index"),
        ("show --textconv", "does not take --textconv"),
        ("log --show-signature", "does not take --show-signature"),
        ("log --remerge-diff", "does not take --remerge-diff"),
        ("status -v", "does not take -v"),
        ("status -sv", "takes no value"),
        ("blame --contents /etc/passwd", "does not take --contents"),
        ("log --one", "does not take --one "),
        ("log -n -p", "takes a number, and not '-p'"),
        ("log -n", "takes a number, and not ''"),
        ("log --oneline=3", "takes no value"),
        ("log --format=%G?", "takes one of oneline"),
        ("log --format=%h%(describe)", "takes one of oneline"),
        ("log --format=evil", "takes one of oneline"),
        ("log --format=%", "takes one of oneline"),
        ("log --diff-merges=remerge", "takes off or none"),
        ("blame --ignore-rev -x", "takes a revision"),
        ("diff -Oorder", "does not take -O"),
    ],
)
def test_everything_else_is_refused_in_words(line: str, why: str) -> None:
    subcommand, *rest = line.split() or [""]
    refusal = check_arguments(subcommand, rest)
    assert isinstance(refusal, str)
    assert why in refusal


WORDS = st.one_of(
    st.sampled_from(
        [*(name for table in OPTIONS.values() for name in table), "--", "--output=x", "-O/x", "--no-index"]
    ),
    st.text(alphabet="-=SGnLoutp%h5,:/ \n", max_size=8),
)


@given(st.sampled_from(sorted(OPTIONS)), st.lists(WORDS, max_size=6))
def test_a_word_before_the_dashes_is_a_known_option_or_begins_with_none(subcommand: str, words: list[str]) -> None:
    call = check_arguments(subcommand, words)
    if isinstance(call, str):
        return
    table = OPTIONS[subcommand]
    for word in call.options:
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        assert name in table or word[1:].isdigit()
        assert (table.get(name) is not None) or word == name or word[1:].isdigit()
    assert not any(name.startswith("-") and name != "-" for name in call.names)
    argv = git_argv("git", call)
    assert argv[: argv.index(subcommand)] == ["git", "--no-pager", "--no-optional-locks"]


def test_filters_and_hooks_are_disarmed_by_their_names() -> None:
    listed = "core.bare\0filter.a.b c.clean\0filter.x.process\0filter.x.required\0hook.lint.command\0user.name\0"
    assert named_programs(listed) == {
        "filter.a.b c.clean": "",
        "filter.a.b c.required": "false",
        "filter.x.process": "",
        "filter.x.required": "false",
        "hook.lint.event": "",
        "hook.lint.enabled": "false",
    }


@given(st.lists(st.integers(0, 5000), max_size=20), st.integers(0, 20_000))
def test_shares_fill_the_limit_and_favour_nobody(sizes: list[int], limit: int) -> None:
    shares = fair_shares(sizes, limit)
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    assert sum(shares) <= limit
    if sum(sizes) <= limit:
        assert shares == sizes
    cut = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not cut or max(cut) - min(cut) <= 1
    assert not cut or max(shares) <= max(cut)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=12), st.integers(2_000, 9_000))
def test_a_long_diff_keeps_every_file_within_the_limit(line_counts: list[int], limit: int) -> None:
    parts = [f"diff --git a/f{n} b/f{n}\n" + "+line of text\n" * count for n, count in enumerate(line_counts)]
    if len(parts) == 1:
        parts.insert(0, "commit 0123456789\n")
    shown = excerpt_diff(io.BytesIO("".join(parts).encode()), limit)
    assert shown is not None
    assert len(shown) <= limit
    for part in parts:
        assert part.splitlines()[0] in shown
        assert part in shown or f"most of the {len(part)} bytes of this part are left out" in shown


def test_too_many_parts_are_no_excerpt() -> None:
    assert excerpt_diff(io.BytesIO(b"diff --git a b\n" * 1000), 10_000) is None
    assert excerpt_diff(io.BytesIO(b"no diff at all\n" * 1000), 10_000) is None
