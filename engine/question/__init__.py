"""A question read once into values that every step shares."""
