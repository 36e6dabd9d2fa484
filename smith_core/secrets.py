"""The program's own keys: read from the environment, checked, and kept from every program that we start."""

import os
import re
from collections.abc import Iterable, Mapping

from smith_core.config.schema import Config

DEFAULT_SEARCH_KEY_ENV = "LINKUP_API_KEY"
_HAS_PASSWORD = r"://[^/@\s]*:[^/@\s]*@"
_SOUNDS_SECRET = ("key", "token", "secret", "passw")


def key_variables(config: Config) -> tuple[str, ...]:
    """Return the names of the variables that hold our keys, as the `*_env` settings name them."""
    search = config.services.get("tool", {})
    web_search = search.get("web_search", {}) if isinstance(search, Mapping) else {}
    search_key = web_search.get("api_key_env") if isinstance(web_search, Mapping) else None
    return (config.llm_config.api_key_env, str(search_key or DEFAULT_SEARCH_KEY_ENV))


def child_environment(config: Config, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for programs that tools start: ours without our keys."""
    hidden = set(key_variables(config))
    source = os.environ if environ is None else environ
    return {name: value for name, value in source.items() if name not in hidden}


def secret_variables(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the names in an environment that sound like a secret, whoever uses it; a setting may name one later."""
    names = os.environ if environ is None else environ
    return tuple(name for name in names if any(part in name.casefold() for part in _SOUNDS_SECRET))


def password_variables(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the names in an environment whose values are addresses with a password, such as that of a proxy."""
    source = os.environ if environ is None else environ
    return tuple(name for name, value in source.items() if re.search(_HAS_PASSWORD, value))


def hide_from_proc(names: Iterable[str]) -> None:
    """Overwrite the values in this process's initial environment block.

    Children of the same user could otherwise read them in /proc/<our pid>/environ. Python's own copy in
    os.environ stays. Does nothing where there is no C library to ask.
    """
    present = [name for name in names if name in os.environ]
    if not present:
        return  # the library takes half a megabyte
    try:
        import ctypes

        getenv = ctypes.CDLL(None).getenv
    except (ImportError, OSError, AttributeError):
        return
    getenv.restype = ctypes.c_void_p
    for name in present:
        address = getenv(name.encode("utf-8", "surrogateescape"))
        if address:
            ctypes.memset(address, ord("-"), len(ctypes.string_at(address)))
