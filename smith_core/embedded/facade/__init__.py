"""An OpenAI-compatible address in front of a tiny local model, which it keeps to what exists and what is possible."""
