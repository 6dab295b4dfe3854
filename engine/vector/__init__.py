"""Nearest neighbours of a vector."""
