"""PostgreSQL refused, too old, newer, damaged and cut off in the middle of a statement."""
