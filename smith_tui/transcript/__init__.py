"""The conversation on the screen: markdown, tool cards and notices as one scrolling page of rows."""
