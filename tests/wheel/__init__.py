"""The built package as a person gets it: which files it has, and whether it works without the repository."""
