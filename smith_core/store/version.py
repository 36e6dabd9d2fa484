"""The version of the form in which records are stored."""

SCHEMA_VERSION = 2
"""Of every record in the store (decisions, section 7); `migrations` brings older ones up to it."""
