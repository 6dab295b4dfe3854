"""One store, two kinds: a folder of this process, and a PostgreSQL database shared by many."""
