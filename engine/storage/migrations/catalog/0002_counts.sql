-- What a namespace held at journal sequence `seq`, as its own database says; -1 before it was asked.
ALTER TABLE namespaces ADD COLUMN seq BIGINT DEFAULT -1;
ALTER TABLE namespaces ADD COLUMN documents BIGINT DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN passages BIGINT DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN storage_bytes BIGINT DEFAULT 0;
