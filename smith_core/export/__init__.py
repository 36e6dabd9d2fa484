"""A conversation as a document to read or to process elsewhere."""
