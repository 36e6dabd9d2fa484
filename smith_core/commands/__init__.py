"""The slash commands, and what opening, listing and searching conversations means."""
