"""The steps of a search by rules and extraction."""
