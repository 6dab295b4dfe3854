-- Times are milliseconds since 1970, UTC. Numbers given out are never given out again, so they are counted here.
CREATE TABLE state (
    generation BIGINT NOT NULL,
    next_company BIGINT NOT NULL,
    next_namespace BIGINT NOT NULL
);

INSERT INTO state VALUES (0, 1, 1);

CREATE TABLE companies (
    id BIGINT PRIMARY KEY,
    name VARCHAR NOT NULL,
    created_at BIGINT NOT NULL
);

-- `schema` is JSON: engine.model.schema.Schema.
CREATE TABLE namespaces (
    id BIGINT PRIMARY KEY,
    company_id BIGINT NOT NULL,
    name VARCHAR NOT NULL,
    schema VARCHAR NOT NULL,
    embedder VARCHAR NOT NULL,
    dimension BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- `digest` is the SHA-256 of the raw key in hexadecimal, `scopes` their names with spaces between.
CREATE TABLE api_keys (
    id VARCHAR PRIMARY KEY,
    company_id BIGINT NOT NULL,
    name VARCHAR NOT NULL,
    prefix VARCHAR NOT NULL,
    suffix VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    scopes VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    created_by VARCHAR,
    last_used_at BIGINT,
    expires_at BIGINT
);

-- `status` is open, running or failed; `state` is opaque here and emptied when the session has expired.
CREATE TABLE sessions (
    id VARCHAR PRIMARY KEY,
    company_id BIGINT NOT NULL,
    namespace_id BIGINT NOT NULL,
    state BLOB NOT NULL,
    status VARCHAR NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
