"""The figures of the local model: eight simple tasks through the whole engine."""
