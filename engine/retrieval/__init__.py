"""A query to ranked hits."""
