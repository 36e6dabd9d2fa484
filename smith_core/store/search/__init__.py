"""Full-text search over everything that was said: derived from the journals, rebuildable at any time."""
