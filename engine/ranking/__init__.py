"""Scores into rankings; numpy only."""
