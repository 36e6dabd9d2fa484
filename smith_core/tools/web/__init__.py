"""Searching the web and fetching from it."""
