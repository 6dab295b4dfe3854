"""Quarry beside what people would use instead, in one run."""
