"""What reaches the terminal: frames as differences to the frame before, and the one writer of the tty."""
