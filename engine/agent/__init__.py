"""A question to a cited answer."""
