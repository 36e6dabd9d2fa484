"""The weights of the embedded model: where they come from, where they lie, and whether they are the right ones."""
