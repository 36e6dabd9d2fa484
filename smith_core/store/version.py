"""The version of the form in which records are stored."""

SCHEMA_VERSION = 2
"""Of every record in the store (decisions, section 7); `migrations` brings older ones up to it."""

GLOBAL_JOURNAL = "global.jrnl"
"""The file of a data folder that says which version it has."""
