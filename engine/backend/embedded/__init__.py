"""DuckDB, tantivy and hnswlib kept in step in one process."""
