"""Completion while typing: what is wanted at the caret, and what can stand there."""
