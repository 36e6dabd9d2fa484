"""Figures of speed and memory, each measured against a baseline in the same run."""
