"""Read-only exploration of code: what is where, without reading every file."""
