"""The full-screen app of Agent Smith, its widgets and its command line."""
