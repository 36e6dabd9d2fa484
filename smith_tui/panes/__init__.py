"""Child panes: what each dispatched child does, live and side by side below the transcript."""
