"""Delegation to child agents."""
