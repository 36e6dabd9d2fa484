"""One canonical form for all addresses of a repository, free of secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smith_core.origin import normalize_origin, without_credentials

SAME_REPOSITORY = [
    "https://github.com/User/repo",
    "https://github.com/User/repo.git",
    "https://github.com/User/repo.git/",
    "https://github.com/User/repo//",
    "HTTPS://GitHub.COM/User/repo.git",
    "https://github.com./User/repo",
    "https://github.com:443/User/repo.git",
    "http://github.com/User/repo.git",
    "http://github.com:80/User/repo",
    "https://user@github.com/User/repo.git",
    "https://user:pa%40ss@github.com/User/repo.git",
    "https://x-access-token:ghp_SECRET@github.com/User/repo",
    "https://github.com/User/repo?ref=main",
    "https://github.com/User/repo.git#main",
    "git@github.com:User/repo.git",
    "git@github.com:User/repo",
    "git@GITHUB.com:User/repo.git/",
    "git@github.com:/User/repo.git",
    "github.com:User/repo.git",
    "ssh://git@github.com/User/repo.git",
    "ssh://git@github.com:22/User/repo.git",
    "ssh://git@github.com:2222/User/repo.git",
    "ssh://github.com/User/repo",
    "git+ssh://git@github.com/User/repo.git",
    "ssh+git://git@github.com/User/repo.git",
    "ssh://git@ssh.github.com:443/User/repo.git",
    "git://github.com/User/repo.git",
    "git://github.com:9418/User/repo.git",
    "  https://github.com/User/repo.git\n",
]

SAME_FOLDER = [
    "/srv/git/repo",
    "/srv/git/repo.git",
    "/srv/git/repo/",
    "/srv/git/repo/.git",
    "/srv//git/./x/../repo",
    "//srv/git/repo",
    "file:///srv/git/repo",
    "file:///srv/git/repo.git/",
    "file:///srv/git/repo/.git",
    "file://localhost/srv/git/repo",
    "FILE:///srv/git/re%70o",
    "../git/repo",
    "./../git/repo.git",
]

OTHERS = [
    ("https://github.com/user/repo", "github.com/user/repo"),
    ("https://gitlab.com/User/repo", "gitlab.com/User/repo"),
    ("https://host:8443/User/repo", "host:8443/User/repo"),
    ("http://localhost:3000/a/b.git", "localhost:3000/a/b"),
    ("git@host:group/sub/repo.git", "host/group/sub/repo"),
    ("ssh://host/~user/repo.git", "host/~user/repo"),
    ("host:~user/repo.git", "host/~user/repo"),
    ("git@[2001:DB8::1]:repo.git", "2001:db8::1/repo"),
    ("ssh://git@[2001:db8::1]:22/repo.git", "2001:db8::1/repo"),
    ("https://host/a%20b", "host/a b"),
    ("https://host/repo.github", "host/repo.github"),
    ("C:\\src\\repo", "C:/src/repo"),
    ("C:/src/repo.git", "C:/src/repo"),
    ("file://server/share/repo", "/server/share/repo"),
    ("", ""),
    ("  ", ""),
]


@pytest.mark.parametrize("origin", SAME_REPOSITORY)
def test_all_addresses_of_a_repository_are_one(origin: str) -> None:
    assert normalize_origin(origin) == "github.com/User/repo"


@pytest.mark.parametrize("origin", SAME_FOLDER)
def test_all_addresses_of_a_folder_are_one(origin: str) -> None:
    assert normalize_origin(origin, base="/srv/work") == "/srv/git/repo"


@pytest.mark.parametrize(("origin", "normalized"), OTHERS)
def test_what_is_different_stays_different(origin: str, normalized: str) -> None:
    assert normalize_origin(origin, base="/srv/work") == normalized


@pytest.mark.parametrize(
    ("origin", "shown"),
    [
        ("https://me:SECRET@host/r.git", "https://host/r.git"),
        ("https://SECRET@host/r.git", "https://host/r.git"),
        ("https://host/r.git?token=SECRET", "https://host/r.git"),
        ("ssh://git:SECRET@host:22/r.git", "ssh://git@host:22/r.git"),
        ("ssh://git@host/r.git", "ssh://git@host/r.git"),
        ("git@host:r.git", "git@host:r.git"),
        ("/srv/r.git", "/srv/r.git"),
        ("file:///srv/r@home.git", "file:///srv/r@home.git"),
    ],
)
def test_b27_an_address_is_shown_without_its_secrets(origin: str, shown: str) -> None:
    assert without_credentials(origin) == shown
    assert "SECRET" not in normalize_origin(origin)


@given(st.text(max_size=40) | st.text("ab:/@.[]~\\%?#-", max_size=20).map("ssh://".__add__))
def test_no_address_is_too_odd(origin: str) -> None:
    assert (normalize_origin(origin, "/base") == "") == (not origin.strip())
    assert without_credentials(without_credentials(origin)) == without_credentials(origin)


@given(
    st.from_regex(r"[a-z][a-z0-9-]{0,10}(\.[a-z]{2,5}){0,2}", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9_-]{1,8}(/[A-Za-z0-9_-]{1,8}){0,3}", fullmatch=True),
)
def test_ssh_https_and_scp_forms_agree(host: str, path: str) -> None:
    expected = f"{host}/{path}"
    for form in (f"https://{host}/{path}.git", f"ssh://git@{host}:22/{path}", f"git@{host}:{path}.git"):
        assert normalize_origin(form) == expected
