"""Git origins: one canonical form for the SSH, HTTPS and file addresses of a repository, and none of its secrets."""

import posixpath
import re
from typing import Final
from urllib.parse import unquote

from smith_core.patterns import later

_URL = later(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP = later(r"(?:[^/:@]*@)?(\[[^\]/]*\]|[^/:@\[\]]+):(.*)", re.DOTALL)
_DRIVE = later(r"[A-Za-z]:[\\/]")
_HOST_AND_PORT = later(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?")

_SSH_SCHEMES: Final = frozenset({"ssh", "git+ssh", "ssh+git"})
_DEFAULT_PORTS: Final = {"http": "80", "https": "443", "git": "9418", "ftp": "21", "ftps": "990"}
_SSH_OVER_HTTPS_HOSTS: Final = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that serve SSH on port 443 for those behind firewalls, as the services' own manuals name them."""


def normalize_origin(origin: str, base: str = "") -> str:
    """Return `host/path` for an address on a network and an absolute path for one on this machine; "" for "".

    The scheme, the user, an SSH port, a scheme's own port, `.git` and slashes at the end are left out; the host is in
    small letters. Another port stays, for it may be another server. A relative path is taken from the folder `base`.
    """
    text = origin.strip()
    if not text:
        return ""
    url = _URL.match(text)
    if url is not None:
        return _from_url(url[1].lower(), url[2], unquote(url[3]))
    if _DRIVE.match(text):
        return _local_path(text)
    scp = _SCP.fullmatch(text)
    if scp is not None:
        return _join(_canonical_host(scp[1]), scp[2])
    return _local_path(posixpath.join(base, text))


def without_credentials(origin: str) -> str:
    """Return an address without passwords, tokens and queries; the user name of an SSH address stays."""
    url = _URL.match(origin)
    if url is None:
        return origin
    user, separator, host = url[2].rpartition("@")
    is_ssh = url[1].lower() in _SSH_SCHEMES
    shown_user = user.partition(":")[0] + separator if is_ssh else ""
    return f"{url[1]}://{shown_user}{host}{url[3]}"


def _from_url(scheme: str, authority: str, path: str) -> str:
    if scheme == "file":
        return _local_path(path if authority.lower() in ("", "localhost") else f"//{authority}{path}")
    host_and_port = authority.rpartition("@")[2]
    match = _HOST_AND_PORT.fullmatch(host_and_port)
    host, port = (match[1], match[2] or "") if match else (host_and_port, "")
    if scheme in _SSH_SCHEMES or port == _DEFAULT_PORTS.get(scheme):
        port = ""
    return _join((_canonical_host(host) or scheme) + (f":{port}" if port else ""), path)


def _canonical_host(host: str) -> str:
    name = host.strip("[]").rstrip(".").lower()
    return _SSH_OVER_HTTPS_HOSTS.get(name, name)


def _join(host: str, path: str) -> str:
    return f"{host}{_local_path(f'/{path}')}".rstrip("/")


def _local_path(path: str) -> str:
    # normpath keeps two leading slashes, which POSIX leaves to the system; here they mean one.
    normal = posixpath.normpath(path.replace("\\", "/"))
    normal = "/" + normal.lstrip("/") if normal.startswith("/") else normal
    return (normal.removesuffix("/.git") or "/") if normal.endswith("/.git") else normal.removesuffix(".git")
