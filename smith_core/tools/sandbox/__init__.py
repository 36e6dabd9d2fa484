"""Commands in a sandbox of bubblewrap: what they find there, how it is started, and whether that works here."""
