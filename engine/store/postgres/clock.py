"""The time of the database, which all servers share."""

NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
"""SQL: milliseconds since 1970."""
