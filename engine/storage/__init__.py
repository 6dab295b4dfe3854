"""Tables; the only importer of duckdb."""
