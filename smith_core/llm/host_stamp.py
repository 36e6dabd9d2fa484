"""What a shared model host is: its code, its Python, its libraries and its environment, as one comparable stamp."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from smith_core.llm.host_process import host_environment

try:
    # The one of hashlib, which loads all of OpenSSL for it.
    from _blake2 import blake2b
except ImportError:  # a Python that leaves its digests to OpenSSL
    from hashlib import blake2b

_WITHHELD = ("key", "token", "secret", "passw", "credential", "jwt", "auth")
"""Parts of names of variables that a shared host never gets: it serves requests that bring their key with them."""

# Patterns would say it more shortly, and take longer to compile than all else that is done before the host starts.
_READ_NAMES = frozenset({
    "HOME", "TMPDIR", "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "FTP_PROXY", "WSS_PROXY",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "RES_OPTIONS", "LOCALDOMAIN", "HOSTALIASES", "USE_LITELLM_PROXY",
    "DEFER_PYDANTIC_BUILD", "REGION", "PROJECT_ID", "REPEATED_STREAMING_CHUNK_LIMIT",
})  # fmt: skip
_READ_BEGINNINGS = (
    "SSL_", "OPENSSL_", "PYTHON", "LD_", "MALLOC_", "LITELLM_", "OPENAI_", "ANTHROPIC_", "AWS_", "AZURE_", "BEDROCK_",
    "GOOGLE_", "GCE_", "CLOUDSDK_", "VERTEX_", "VERTEXAI_", "WATSONX_", "WX_", "WML_", "AICORE_", "OCI_", "DATABRICKS_",
    "DATAROBOT_", "SNOWFLAKE_", "GIGACHAT_", "GITHUB_COPILOT_", "CHATGPT_", "XAI_", "OR_", "VERCEL_", "HF_",
    "HUGGINGFACE_", "GRADIENT_AI_", "AIOHTTP_", "DISABLE_AIOHTTP_", "OLLAMA_", "EXPERIMENTAL_OPENAI_",
)  # fmt: skip
_READ_ENDS = (
    "_BASE_URL", "_PROJECT_ID", "_SPACE_ID", "_DEPLOYMENT_SPACE_ID", "_TENANT_ID", "_ACCOUNT_ID", "_WORKSPACE_ID",
    "_CLIENT_ID", "_REGION", "_LOCATION",
)  # fmt: skip
_READ_PARTS = ("_API_BASE_", "_API_URL_", "_API_VERSION_", "_API_TYPE_")
"""Parts of names, or their ends without the last sign."""

_CLOUDS = (
    "AWS_", "AZURE_", "GOOGLE_", "VERTEX_", "VERTEXAI_", "WATSONX_", "WX_", "AICORE_", "OCI_", "DATABRICKS_",
    "SNOWFLAKE_", "GIGACHAT_", "GITHUB_COPILOT_", "CHATGPT_", "XAI_OAUTH_", "ANTHROPIC_AUTH_", "HF_",
)  # fmt: skip
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
    kept = {name: value for name, value in environ.items() if is_read_by_libraries(name) and not is_withheld(name)}
    environment = host_environment(kept, tuple(secret_variables))
    # Without these Python would choose by the locale, and write its choice into the environment.
    environment |= {"PYTHONUTF8": "1", "PYTHONCOERCECLOCALE": "0", "PATH": os.defpath}
    return environment


def is_withheld(name: str) -> bool:
    """Say whether the name of a variable sounds like a secret."""
    folded = name.casefold()
    return any(part in folded for part in _WITHHELD)


def is_read_by_libraries(name: str) -> bool:
    """Say whether litellm and the libraries below it read a variable when they make a call.

    Source: the names in the sources of litellm 1.110.2, openai, httpx, botocore and google-auth; a test compares them
    with the installed litellm.
    """
    upper = name.upper()
    if upper in _READ_NAMES:
        return True
    is_listed = upper.startswith(_READ_BEGINNINGS) or upper.endswith(_READ_ENDS)
    return name.isidentifier() and (is_listed or any(part in f"{upper}_" for part in _READ_PARTS))


def has_cloud_credentials(environ: Mapping[str, str]) -> bool:
    """Say whether an environment holds credentials that litellm takes from there even when a request brings a key."""
    return any(
        is_withheld(name) and any(name.startswith(cloud) and name != f"{cloud}API_KEY" for cloud in _CLOUDS)
        for name in environ
    )


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
    data = "\0".join(facts).encode("utf-8", "surrogateescape")
    return blake2b(data).hexdigest()[:_DIGEST_CHARACTERS]
