-- What is searched by. Disposable: filled from the journals, and never asked what is so.
-- Absent texts and ids are empty, as everywhere in the index.
CREATE TABLE runs (
    id uuid PRIMARY KEY,
    seq bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    status text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    parent bytea NOT NULL,
    priority integer NOT NULL,
    started_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    live boolean NOT NULL,
    -- Its words are here.
    worded boolean NOT NULL,
    words text COLLATE "C" NOT NULL
);

CREATE INDEX runs_by_start ON runs (started_at, id);
CREATE INDEX runs_by_update ON runs (updated_at, id);
CREATE INDEX runs_by_name ON runs (name, started_at, id);
CREATE INDEX runs_by_status ON runs (status, started_at, id);
-- What clients choose may be long, and is asked for by its whole value.
CREATE INDEX runs_by_correlation ON runs USING hash (correlation_id) WHERE correlation_id <> '';
CREATE INDEX runs_by_key ON runs USING hash (idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX runs_by_parent ON runs (parent, started_at, id) WHERE parent <> '';
CREATE INDEX runs_wordless ON runs (id) WHERE NOT worded;

CREATE TABLE tasks (
    task uuid PRIMARY KEY,
    -- The end of the run's journal when this was so: nodes write in any order, and what is later stays.
    seq bigint NOT NULL,
    execution uuid NOT NULL,
    workflow_name text COLLATE "C" NOT NULL,
    task_type text COLLATE "C" NOT NULL,
    definition_name text COLLATE "C" NOT NULL,
    reference text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    scheduled_at bigint NOT NULL,
    started_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    words text COLLATE "C" NOT NULL
);

CREATE INDEX tasks_by_execution ON tasks (execution);
CREATE INDEX tasks_by_start ON tasks (started_at, task);
CREATE INDEX tasks_by_update ON tasks (updated_at, task);
CREATE INDEX tasks_by_type ON tasks (task_type, started_at, task);
CREATE INDEX tasks_by_definition ON tasks (definition_name, started_at, task);
CREATE INDEX tasks_by_status ON tasks (status, started_at, task);

-- Long runs as they stood after some entry.
CREATE TABLE snapshots (
    execution uuid PRIMARY KEY,
    body bytea NOT NULL
);
