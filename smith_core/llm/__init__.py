"""The way to the models: a host process that carries litellm, and the client that talks to it."""
