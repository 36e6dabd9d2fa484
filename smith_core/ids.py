"""Identifiers: 21-character URL-safe nanoids, free of the `:` that separates key segments."""

import os

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"


def new_id() -> str:
    """Return a fresh random id of 126 bits."""
    return "".join(_ALPHABET[byte & 63] for byte in os.urandom(21))
