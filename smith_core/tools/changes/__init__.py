"""Undo of file changes: copies of files before a turn changes them, and the way back and forth."""
