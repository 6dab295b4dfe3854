"""Strings to sentences, tokens and passages; no I/O."""
