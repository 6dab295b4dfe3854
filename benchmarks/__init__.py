"""Measurements: quality, speed, load. Reported, never asserted."""
