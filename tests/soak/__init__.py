"""`make soak`: an hour of random use of the app in pseudo terminals, with faults; see `python -m tests.soak --help`."""
