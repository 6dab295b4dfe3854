"""Several real servers on one real database."""
