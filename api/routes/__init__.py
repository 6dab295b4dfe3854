"""Handlers of /v1."""
