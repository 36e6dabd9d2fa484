"""What the program says with its exit status (decisions, section 9)."""

EXIT_OK, EXIT_ERROR, EXIT_USAGE, EXIT_BUDGET, EXIT_CANCELLED = 0, 1, 2, 3, 130
