"""A scripted demo of the program, without any language model: real HTTP, real tools, a sample project of its own."""
