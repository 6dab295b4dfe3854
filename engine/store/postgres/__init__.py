"""Companies, namespaces, keys, sessions and documents in one PostgreSQL database, shared by any number of servers.

The only importer of psycopg and pgvector.

::

    store ── catalog, keyring, sessions                  control: a statement by an index at each request
      └──── backend ── writing ── passages, postings     a write is one transaction
                ├───── legs ── terms, posting_memory     a query by words
                │        ├──── vectors, vector_memory    … by vectors
                │        └──── attributes ── filters     what a filter allows
                └───── maintenance ── graphs, verify     what nobody waits for
    connection ── failures                               of all of them: pool, retries, the driver's errors as ours
    migrate ── schema_1.sql, schema_2.sql                the tables
"""
