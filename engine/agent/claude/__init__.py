"""The steps of a search on a language model."""
