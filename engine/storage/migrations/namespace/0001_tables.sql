-- One database a namespace. `key` numbers a version of a document, `label` a passage; neither is ever reused.
-- Columns that a search reads row by row are not compressed, but for the text: packing it makes the ten lookups of a search
-- a tenth slower and takes off a quarter of the file, and of what of it is in memory (benchmarks/duckdb_lookup.py).
CREATE TABLE documents (
    id VARCHAR PRIMARY KEY,
    key BIGINT NOT NULL,
    root_id VARCHAR,
    body VARCHAR NOT NULL
);

CREATE TABLE passages (
    label BIGINT PRIMARY KEY,
    key BIGINT NOT NULL,
    document_id VARCHAR NOT NULL USING COMPRESSION uncompressed,
    attribute VARCHAR NOT NULL USING COMPRESSION uncompressed,
    start_at INTEGER NOT NULL USING COMPRESSION uncompressed,
    end_at INTEGER NOT NULL USING COMPRESSION uncompressed,
    text VARCHAR NOT NULL,
    header VARCHAR NOT NULL USING COMPRESSION uncompressed,
    vector BLOB NOT NULL USING COMPRESSION uncompressed
);

-- One typed column a filterable attribute is added beside `key`; `attribute_columns` says which.
CREATE TABLE attributes (key BIGINT NOT NULL);

CREATE TABLE attribute_columns (
    attribute VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    name VARCHAR NOT NULL
);

CREATE TABLE journal (
    seq BIGINT NOT NULL,
    operation VARCHAR NOT NULL,
    first_label BIGINT NOT NULL,
    next_label BIGINT NOT NULL,
    removed BIGINT[] NOT NULL
);

CREATE TABLE counters (
    next_key BIGINT NOT NULL,
    next_label BIGINT NOT NULL,
    seq BIGINT NOT NULL
);

INSERT INTO counters VALUES (0, 0, 0);

CREATE TABLE properties (name VARCHAR NOT NULL, value VARCHAR NOT NULL);
