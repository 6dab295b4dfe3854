"""Documents in PostgreSQL with pgvector. The only importer of psycopg and pgvector."""
