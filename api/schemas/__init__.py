"""Wire shapes of /v1."""
