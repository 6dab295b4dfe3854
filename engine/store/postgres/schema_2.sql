-- Version 2. What servers remember of postings, and the terms of passages beside their texts.
ALTER TABLE quarry.namespaces ADD COLUMN compactions int8 NOT NULL DEFAULT 0;
COMMENT ON COLUMN quarry.namespaces.compactions IS 'how often its postings were written anew: what servers remember of them is of one number';

-- A reindex goes on with the labels of the part before, so that none ever means two passages.
ALTER TABLE quarry.namespaces ADD COLUMN first_label int8 NOT NULL DEFAULT 0;
COMMENT ON COLUMN quarry.namespaces.first_label IS 'of its part';

ALTER TABLE quarry.passages ADD COLUMN terms bytea;
COMMENT ON COLUMN quarry.passages.terms IS 'numbers of its terms, see engine/store/postgres/passages.py; null where version 1 wrote it';

-- A graph holds the passages below a label; later ones are scanned. The graphs of version 1, which every insertion had
-- to enter, are built anew and then dropped.
ALTER TABLE quarry.namespaces ADD COLUMN graph_upto int8 NOT NULL DEFAULT 0, DROP COLUMN has_graph;
COMMENT ON COLUMN quarry.namespaces.graph_upto IS 'passages of smaller labels are in the graph passages_near_PART_UPTO; 0 for no graph';
