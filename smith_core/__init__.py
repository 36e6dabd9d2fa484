"""The engine of Agent Smith: it runs turns and reports events, and knows nothing of the screen."""
