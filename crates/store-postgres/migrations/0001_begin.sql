-- Ids are uuids, digests 32 bytes, times milliseconds since 1970 (0: not yet), payloads bytes.
-- Text is compared byte for byte, whatever the database's language is. What programs say may hold any
-- character, so it is kept as bytes.

-- What time it is: the database's clock and what tests have moved it by, or the moment at which it
-- stands still. One row.
CREATE TABLE clock (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    offset_ms bigint NOT NULL,
    stands_at bigint
);

INSERT INTO clock (offset_ms) VALUES (0);

-- Processes that have worked on these tables, by name.
CREATE TABLE nodes (
    number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL UNIQUE
);

-- The last round of each lane: what an unknown commit is asked against. Held first by every round,
-- and only by the lane's latest writer.
CREATE TABLE lanes (
    node bigint NOT NULL,
    lane integer NOT NULL,
    writer uuid NOT NULL,
    round bigint NOT NULL,
    at bigint NOT NULL,
    fence bigint NOT NULL,
    PRIMARY KEY (node, lane)
) WITH (fillfactor = 20);

-- Rows that are held and are not there. Written and deleted by the same transaction, so nobody ever
-- sees one; who wants to hold the same waits for it.
CREATE UNLOGGED TABLE placeholders (
    key bytea PRIMARY KEY
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Who asked for work last, for everybody who wants to know where workers are.
CREATE UNLOGGED TABLE polls (
    task_type text COLLATE "C" NOT NULL,
    domain text COLLATE "C",
    worker text,
    at bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (task_type, domain)
) WITH (fillfactor = 50);

-- One row per execution: where its journal ends, when to wake it, what it is searched by.
-- `due_at` is when it is offered next, `told_by` the node to which it was offered last.
CREATE TABLE executions (
    id uuid PRIMARY KEY,
    seq bigint NOT NULL,
    digest bytea NOT NULL,
    wake_at bigint,
    status text COLLATE "C" NOT NULL,
    parked bytea,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    correlation_id text COLLATE "C",
    idempotency_key text COLLATE "C",
    principal text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    due_at bigint,
    told_by bigint
) WITH (fillfactor = 70);

CREATE INDEX executions_due ON executions (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX executions_by_end ON executions (ended_at, id) WHERE ended_at > 0;
CREATE INDEX executions_live ON executions (name, version) WHERE ended_at = 0;
CREATE INDEX executions_parked ON executions (id) WHERE parked IS NOT NULL;

-- Appended, never edited.
CREATE TABLE journal (
    execution uuid NOT NULL,
    seq bigint NOT NULL,
    entry bytea NOT NULL,
    PRIMARY KEY (execution, seq)
);

-- One task waiting for, or held by, a worker. `delayed`: it was not ready yet when it was written.
-- Rows live for seconds: space is taken back early.
CREATE TABLE deliveries (
    execution uuid NOT NULL,
    task uuid NOT NULL,
    fence bigint NOT NULL,
    leased boolean NOT NULL,
    worker text,
    lease_until bigint,
    run_until bigint,
    poll_until bigint,
    started_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    polls bigint NOT NULL,
    token bytea,
    armed boolean NOT NULL,
    task_type text COLLATE "C" NOT NULL,
    domain text COLLATE "C",
    priority integer NOT NULL,
    ready_at bigint NOT NULL,
    seq bigint NOT NULL,
    reference text NOT NULL,
    attempt bigint NOT NULL,
    scheduled_at bigint NOT NULL,
    definition bytea NOT NULL,
    correlation_id text,
    replaces uuid,
    reason bytea,
    traceparent text,
    epoch bigint NOT NULL,
    input bytea NOT NULL,
    output bytea NOT NULL,
    due_at bigint,
    told_by bigint,
    delayed boolean NOT NULL,
    PRIMARY KEY (execution, task)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX deliveries_ready ON deliveries
    (task_type, domain, priority DESC, ready_at, seq, execution, task) WHERE NOT leased;
CREATE INDEX deliveries_delayed ON deliveries (ready_at) WHERE delayed AND NOT leased;
CREATE INDEX deliveries_leased ON deliveries (task_type) WHERE leased;
CREATE INDEX deliveries_by_token ON deliveries (token) WHERE token IS NOT NULL;
CREATE INDEX deliveries_due ON deliveries (due_at, execution, task) WHERE due_at IS NOT NULL;

-- What one execution tells another (receiver), or the world (sink); the other one is NULL. Deleted
-- by whoever has heard it. One that waits on a record is carried when the record lets it go.
CREATE TABLE messages (
    sender uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    receiver uuid,
    sink text COLLATE "C",
    body bytea NOT NULL,
    waits_scope text COLLATE "C",
    waits_key text COLLATE "C",
    waits_since bigint,
    due_at bigint,
    told_by bigint,
    PRIMARY KEY (sender, seq, at)
) WITH (
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX messages_due ON messages (due_at, sender, seq, at) WHERE due_at IS NOT NULL;
CREATE INDEX messages_waiting ON messages (waits_scope, waits_key, waits_since, sender, seq, at)
    WHERE waits_scope IS NOT NULL;

CREATE TABLE records (
    scope text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    run uuid,
    live boolean NOT NULL,
    version integer NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    state text COLLATE "C" NOT NULL,
    detail bytea,
    PRIMARY KEY (scope, key)
) WITH (fillfactor = 80);

CREATE INDEX records_by_expiry ON records (expires_at, scope, key) WHERE expires_at IS NOT NULL;

CREATE TABLE limits (
    task_type text COLLATE "C" PRIMARY KEY,
    used bytea NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE pinned (
    digest bytea PRIMARY KEY,
    body bytea NOT NULL
);

-- Pinned definitions that came with the data of a run; they go with the last run they were given to.
CREATE TABLE given (
    execution uuid NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (execution, digest)
);

CREATE INDEX given_by_digest ON given (digest);

CREATE TABLE documents (
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (kind, name, version)
);

CREATE TABLE meta (
    name text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);

INSERT INTO meta (name, value) VALUES ('documents_generation', 0);

-- What workers wrote about their tasks. The round that noted a line, and its place in it, tell lines
-- of the same moment apart.
CREATE TABLE task_logs (
    execution uuid NOT NULL,
    task uuid NOT NULL,
    noted_at bigint NOT NULL,
    node bigint NOT NULL,
    lane integer NOT NULL,
    round bigint NOT NULL,
    at integer NOT NULL,
    created_at bigint NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (execution, task, noted_at, node, lane, round, at)
);
