-- Version 1. All namespaces share these tables; thousands of them are thousands of rows, not of tables.
CREATE TABLE quarry.namespaces (
    namespace int8 PRIMARY KEY,
    embedder text NOT NULL,
    dimension int4 NOT NULL,
    epoch text NOT NULL,
    pending boolean NOT NULL DEFAULT true,
    schema text,
    searched text[],
    languages jsonb NOT NULL DEFAULT '{}',
    seq int8 NOT NULL DEFAULT 0,
    next_key int8 NOT NULL DEFAULT 0,
    next_label int8 NOT NULL DEFAULT 0,
    indexed int8 NOT NULL DEFAULT 0,
    body_terms int8 NOT NULL DEFAULT 0,
    header_terms int8 NOT NULL DEFAULT 0,
    has_graph boolean NOT NULL DEFAULT false
);
COMMENT ON COLUMN quarry.namespaces.pending IS 'no list, search or backup sees it yet';
COMMENT ON COLUMN quarry.namespaces.schema IS 'JSON of an engine.model.schema.Schema';
COMMENT ON COLUMN quarry.namespaces.indexed IS 'passages ever put into the postings; removed ones count until they are compacted';

CREATE TABLE quarry.documents (
    namespace int8 NOT NULL,
    key int8 NOT NULL,
    id text NOT NULL COLLATE "C",
    root_id text COLLATE "C",
    body text NOT NULL,
    attributes jsonb NOT NULL,
    PRIMARY KEY (namespace, key)
);
CREATE UNIQUE INDEX documents_by_id ON quarry.documents (namespace, id);
CREATE INDEX documents_by_root ON quarry.documents (namespace, root_id) WHERE root_id IS NOT NULL;

CREATE TABLE quarry.passages (
    namespace int8 NOT NULL,
    label int8 NOT NULL,
    key int8 NOT NULL,
    document_id text NOT NULL,
    attribute text NOT NULL,
    start_at int4 NOT NULL,
    end_at int4 NOT NULL,
    text text NOT NULL,
    header text NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (namespace, label)
);
CREATE INDEX passages_by_key ON quarry.passages (namespace, key);

-- One row a term and write: `postings` is an array of 10-byte records, see engine/store/postgres/postings.py.
CREATE TABLE quarry.postings (
    namespace int8 NOT NULL,
    term text NOT NULL COLLATE "C",
    first_label int8 NOT NULL,
    passages int4 NOT NULL,
    postings bytea NOT NULL,
    PRIMARY KEY (namespace, term, first_label)
);
