"""The widgets that a screen is put together from; each gets what it shows handed in and posts messages upward."""
