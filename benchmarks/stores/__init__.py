"""Both kinds of store beside one another; see `benchmarks.stores.__main__`."""
