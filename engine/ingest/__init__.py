"""Documents to stored, embedded, findable passages."""
