"""The rain in a real kitty on a screen of its own, looked at pixel by pixel."""
