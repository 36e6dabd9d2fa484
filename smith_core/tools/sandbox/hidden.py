"""What a sandboxed command cannot read: the places where secrets usually are, and those where ours are."""

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from smith_core.errors import AgentFailure
from smith_core.paths import cache_dir, config_dir, data_dir, home_dir, state_dir

IN_HOME: Mapping[str, tuple[str, ...]] = {
    "keys and certificates": (".ssh", ".gnupg", ".pki", ".putty", ".config/age", ".config/sops"),
    "clouds and clusters": (
        ".aws",
        ".azure",
        ".config/gcloud",
        ".config/doctl",
        ".config/flyctl",
        ".fly",
        ".config/rclone",
        ".config/heroku",
        ".oci",
        ".kube",
        ".docker",
        ".config/containers",
        ".config/helm",
        ".terraform.d",
        ".terraformrc",
        ".vault-token",
    ),
    "accounts of programs": (
        ".netrc",
        "_netrc",
        ".git-credentials",
        ".config/git/credentials",
        ".config/gh",
        ".config/glab-cli",
        ".config/hub",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".config/pip",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".gem/credentials",
        ".m2/settings.xml",
        ".gradle/gradle.properties",
        ".composer/auth.json",
        ".config/composer/auth.json",
        ".nuget/NuGet",
        ".pgpass",
        ".my.cnf",
        ".config/Code",
        ".cache/huggingface/token",
        ".codex",
        ".claude",
        ".claude.json",
        ".config/github-copilot",
        ".gemini",
        ".env",
        ".env.local",
    ),
    "wallets of passwords": (
        ".password-store",
        ".local/share/keyrings",
        ".local/share/kwalletd",
        ".config/op",
        ".config/Bitwarden",
        ".config/Bitwarden CLI",
        ".config/keepassxc",
        ".config/1Password",
    ),
    "browsers, mail and chat": (
        ".mozilla",
        ".librewolf",
        ".config/google-chrome",
        ".config/google-chrome-beta",
        ".config/chromium",
        ".config/BraveSoftware",
        ".config/microsoft-edge",
        ".config/vivaldi",
        ".config/opera",
        ".cache/mozilla",
        ".cache/google-chrome",
        ".cache/chromium",
        ".thunderbird",
        ".config/Slack",
        ".config/Signal",
        ".config/discord",
        ".local/share/TelegramDesktop",
        ".var/app",
        "snap",
    ),
    "histories and sessions": (
        ".bash_history",
        ".zsh_history",
        ".zhistory",
        ".local/share/fish/fish_history",
        ".python_history",
        ".node_repl_history",
        ".psql_history",
        ".mysql_history",
        ".sqlite_history",
        ".Xauthority",
        ".ICEauthority",
    ),
}
"""Paths below each home folder, by what they are; what a name leads to is hidden as well."""

IN_SYSTEM = ("/etc/shadow", "/etc/gshadow", "/var/lib/lxd", "/var/lib/incus", "/var/snap/lxd/common/lxd")
"""Paths that matter when Smith runs as root or its user may give orders to a service of containers."""

_HOST_KEYS = (Path("/etc/ssh"), "*_key")


def home_folders(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the home folder of the environment and that of the user database, resolved."""
    found: dict[str, None] = {}
    try:
        found[os.path.realpath(home_dir(environ))] = None
        found[os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)] = None
    except (AgentFailure, KeyError):
        pass
    return tuple(found)


def hidden_places(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the resolved paths of all that is to be hidden and exists, without what lies below another of them."""
    found = {resolved for path in _candidates(environ) if (resolved := _existing(path)) is not None}
    return tuple(sorted(path for path in found if not any(is_below(path, other) for other in found)))


def is_below(path: str, folder: str) -> bool:
    """Whether a resolved path lies inside a folder; the folder itself does not."""
    return path != folder and path.startswith(folder.rstrip("/") + "/")


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    for home in home_folders(environ):
        for names in IN_HOME.values():
            yield from (Path(home, name) for name in names)
    yield from map(Path, IN_SYSTEM)
    yield from _listed(*_HOST_KEYS)
    yield from _own_folders(environ)


def _own_folders(environ: Mapping[str, str]) -> Iterable[Path]:
    """Settings, conversations, logs and caches of ours, and where the sockets of sessions are."""
    try:
        own = [folder(environ) for folder in (config_dir, data_dir, state_dir, cache_dir)]
    except AgentFailure:
        own = []
    runtime = Path(environ.get("XDG_RUNTIME_DIR", ""))
    return [*own, runtime] if runtime.is_absolute() else own


def _listed(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def _existing(path: Path) -> str | None:
    try:
        return str(path.resolve(strict=True))
    except (OSError, RuntimeError, ValueError):  # not there, not ours to look at, or a circle of links
        return None
