"""One process and one folder: DuckDB, tantivy and hnswlib behind the protocol of every store."""
