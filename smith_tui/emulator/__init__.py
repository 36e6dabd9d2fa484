"""The screen that a program drew with cursor movement, emulated; pyte is imported with the first such program."""
