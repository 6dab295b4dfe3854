"""The port to a language model."""
