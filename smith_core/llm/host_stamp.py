"""What a shared model host is: its code, its Python, its libraries and its environment, as one comparable stamp."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from smith_core.llm.host_process import host_environment

WITHHELD = re.compile(r"key|token|secret|passw|credential|jwt|auth", re.IGNORECASE)
"""Names of variables that a shared host never gets: it serves requests that bring their key with them."""

READ_BY_LIBRARIES = re.compile(
    r"""
    HOME | TMPDIR | (?:all|https?|no|ftp|wss?)_proxy
    | SSL_\w+ | OPENSSL_\w+ | (?:REQUESTS|CURL)_CA_BUNDLE
    | PYTHON\w+ | LD_\w+ | MALLOC_\w+ | RES_OPTIONS | LOCALDOMAIN | HOSTALIASES
    | \w+_API_(?:BASE|URL|VERSION|TYPE)(?:_\w+)? | \w+_BASE_URL
    | \w+_(?:PROJECT|SPACE|DEPLOYMENT_SPACE|TENANT|ACCOUNT|WORKSPACE|CLIENT)_ID | \w+_(?:REGION|LOCATION)
    | (?:LITELLM|OPENAI|ANTHROPIC|AWS|AZURE|BEDROCK|GOOGLE|GCE|CLOUDSDK|VERTEX|VERTEXAI|WATSONX|WX|WML|AICORE|OCI)_\w+
    | (?:DATABRICKS|DATAROBOT|SNOWFLAKE|GIGACHAT|GITHUB_COPILOT|CHATGPT|XAI|OR|VERCEL|HF|HUGGINGFACE|GRADIENT_AI)_\w+
    | (?:AIOHTTP|DISABLE_AIOHTTP|OLLAMA|EXPERIMENTAL_OPENAI)_\w+
    | USE_LITELLM_PROXY | DEFER_PYDANTIC_BUILD | REGION | PROJECT_ID | REPEATED_STREAMING_CHUNK_LIMIT
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Names of variables that litellm and the libraries below it read when they make a call.

Source: the names in the sources of litellm 1.110.2, openai, httpx, botocore and google-auth; a test compares the list
with the installed litellm.
"""

_CLOUD_CREDENTIALS = re.compile(
    r"(?:AWS|AZURE|GOOGLE|VERTEX|VERTEXAI|WATSONX|WX|AICORE|OCI|DATABRICKS|SNOWFLAKE|GIGACHAT|GITHUB_COPILOT|CHATGPT"
    r"|XAI_OAUTH|ANTHROPIC_AUTH|HF)_(?!API_KEY$)\w+"
)
_DIGEST_CHARACTERS = 12
_PACKAGE = Path(__file__).parent


class HostStamp(msgspec.Struct, frozen=True, array_like=True):
    """Three digests; hosts are shared only where all three agree.

    install: the machine, Python and the folder that the program runs from. code: our files and the libraries there.
    environment: every variable that the host has.
    """

    install: str
    code: str
    environment: str

    @property
    def file_name(self) -> str:
        """The name of the socket of such a host."""
        return f"host-{self.install}-{self.code}-{self.environment}.sock"


def stamp_for(environment: Mapping[str, str]) -> HostStamp:
    """Return the stamp of a host that this program would start with an environment."""
    return HostStamp(install_digest(), code_digest(), environment_digest(environment))


def shared_environment(environ: Mapping[str, str], secret_variables: Iterable[str]) -> dict[str, str]:
    """Return the environment of a shared host: what its libraries read, no secret, nothing of one terminal or project.

    Since it gets nothing else, a variable outside the list cannot make two hosts with equal stamps behave differently.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if READ_BY_LIBRARIES.fullmatch(name) and not WITHHELD.search(name)
    }
    environment = host_environment(kept, tuple(secret_variables))
    # Without these Python would choose by the locale, and write its choice into the environment.
    environment |= {"PYTHONUTF8": "1", "PYTHONCOERCECLOCALE": "0", "PATH": os.defpath}
    return environment


def has_cloud_credentials(environ: Mapping[str, str]) -> bool:
    """Say whether an environment holds credentials that litellm takes from there even when a request brings a key."""
    return any(WITHHELD.search(name) and _CLOUD_CREDENTIALS.fullmatch(name) for name in environ)


def install_digest() -> str:
    """Return what tells two installations apart; a home folder may be shared by several machines."""
    return _digest(os.uname().nodename, sys.version, sys.executable, sys.prefix, str(_PACKAGE))


def code_digest(package: Path = _PACKAGE, search_path: Iterable[str] | None = None) -> str:
    """Return what changes when our files or the installed libraries do, read from sizes and times of files.

    search_path: where the libraries are looked for, as in `sys.path`.
    """
    paths = map(Path, sys.path if search_path is None else search_path)
    libraries = next((folder for folder in paths if _is_file(folder / "litellm" / "__init__.py")), None)
    facts = [*_facts(package), *_facts(package.parent)]
    if libraries is not None:
        # Whatever is installed or removed makes or removes a folder there.
        facts += [str(folder.stat().st_mtime_ns) for folder in (libraries, libraries / "litellm" / "__init__.py")]
    return _digest(*facts)


def environment_digest(environment: Mapping[str, str]) -> str:
    """Return the digest of all variables and their values."""
    return _digest(*(f"{name}={value}" for name, value in sorted(environment.items())))


def _facts(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        files = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py")]
    return [f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in sorted(files)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _digest(*facts: str) -> str:
    import hashlib

    data = "\0".join(facts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARACTERS]
