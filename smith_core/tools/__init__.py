"""The tools that a model can call, and the one way in which they are called."""
