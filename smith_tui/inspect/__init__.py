"""The inspect view: every stored message as a row, the chosen one in full, and what can be done with it."""
