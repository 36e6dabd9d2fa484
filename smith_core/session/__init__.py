"""The session and the life of its turns."""
