-- Ids are 16 bytes, digests 32, times milliseconds since 1970 (0: not yet), payloads bytes.
-- Every table is clustered by what is read together.

-- One row per execution: where its journal ends, when to wake it, what it is searched by.
CREATE TABLE executions (
    id BLOB NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    digest BLOB NOT NULL,
    wake_at INTEGER,
    status TEXT NOT NULL,
    parked TEXT,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    correlation_id TEXT,
    idempotency_key TEXT,
    principal TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Read once, at open.
CREATE INDEX executions_by_wake ON executions (wake_at) WHERE wake_at IS NOT NULL;

-- Appended, never edited.
CREATE TABLE journal (
    execution BLOB NOT NULL,
    seq INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (execution, seq)
) STRICT, WITHOUT ROWID;

-- One task waiting for, or held by, a worker. A claim rewrites its row, so large payloads lie apart
-- (and are NULL here).
CREATE TABLE deliveries (
    execution BLOB NOT NULL,
    task BLOB NOT NULL,
    fence INTEGER NOT NULL,
    leased INTEGER NOT NULL,
    worker TEXT,
    lease_until INTEGER,
    run_until INTEGER,
    poll_until INTEGER,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    polls INTEGER NOT NULL,
    token BLOB,
    armed INTEGER NOT NULL,
    task_type TEXT NOT NULL,
    domain TEXT,
    priority INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    reference TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    scheduled_at INTEGER NOT NULL,
    definition BLOB NOT NULL,
    correlation_id TEXT,
    replaces BLOB,
    reason TEXT,
    input BLOB,
    output BLOB,
    PRIMARY KEY (execution, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery_payloads (
    execution BLOB NOT NULL,
    task BLOB NOT NULL,
    input BLOB NOT NULL,
    output BLOB NOT NULL,
    PRIMARY KEY (execution, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE records (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    run BLOB NOT NULL,
    live INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE limits (
    task_type TEXT NOT NULL PRIMARY KEY,
    window BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pinned (
    digest BLOB NOT NULL PRIMARY KEY,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('documents_generation', 0);

-- The last round of each lane: what an unknown commit is asked against.
CREATE TABLE lanes (
    lane INTEGER NOT NULL PRIMARY KEY,
    round INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fence INTEGER NOT NULL
) STRICT;
