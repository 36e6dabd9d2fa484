"""Makes the parts of the guide that repeat what the code says: settings, keys, commands, roles, endpoints, man page."""
