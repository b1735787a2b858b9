-- What is searched by. Disposable: another text here means that the file is made anew.
-- Absent texts and ids are empty. Ids end the indexes that order by time, so that a page of ids, and
-- the count of a type or a status, comes from an index alone.

-- One row: where the file was opened last, or nothing once it was closed in peace, and the last commit of
-- the database that was known when something was brought.
CREATE TABLE meta (opened_in TEXT NOT NULL, round INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;

INSERT INTO meta VALUES ('', 0, 0);

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    -- Up to here its journal was brought without a gap.
    whole INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    parent BLOB NOT NULL,
    priority INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    live INTEGER NOT NULL,
    -- Its words are in run_words.
    worded INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX runs_by_id ON runs (id);
CREATE INDEX runs_by_start ON runs (started_at, id);
CREATE INDEX runs_by_update ON runs (updated_at, id);
CREATE INDEX runs_by_name ON runs (name, status, started_at, id);
CREATE INDEX runs_by_status ON runs (status, started_at, id);
CREATE INDEX runs_by_correlation ON runs (correlation_id, started_at, id) WHERE correlation_id <> '';
CREATE INDEX runs_by_key ON runs (idempotency_key, started_at, id) WHERE idempotency_key <> '';
CREATE INDEX runs_by_parent ON runs (parent, started_at, id) WHERE parent <> x'';
-- Children of nobody, which most runs are: they have to come in order.
CREATE INDEX runs_on_top ON runs (parent, started_at, id) WHERE parent = x'';
CREATE INDEX runs_wordless ON runs (id) WHERE worded = 0;

-- How many there are of each kind. Counting them one by one takes as long as there are many. A kind
-- that is no more stays with none: there are no more of them than definitions and statuses.
CREATE TABLE run_counts (
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    on_top INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (name, status, on_top)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER runs_counted AFTER INSERT ON runs BEGIN
    INSERT INTO run_counts VALUES (new.name, new.status, new.parent = x'', 1)
    ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER runs_discounted AFTER DELETE ON runs BEGIN
    UPDATE run_counts SET number = number - 1
    WHERE name = old.name AND status = old.status AND on_top = (old.parent = x'');
END;

CREATE TRIGGER runs_recounted AFTER UPDATE OF name, status, parent ON runs
WHEN old.name <> new.name OR old.status <> new.status OR (old.parent = x'') <> (new.parent = x'')
BEGIN
    UPDATE run_counts SET number = number - 1
    WHERE name = old.name AND status = old.status AND on_top = (old.parent = x'');
    INSERT INTO run_counts VALUES (new.name, new.status, new.parent = x'', 1)
    ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE VIRTUAL TABLE run_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'trigram'
);

CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    task BLOB NOT NULL,
    execution BLOB NOT NULL,
    workflow_name TEXT NOT NULL,
    task_type TEXT NOT NULL,
    -- The name of its definition; NULL when that is its type.
    other_name TEXT,
    reference TEXT NOT NULL,
    status TEXT NOT NULL,
    scheduled_at INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX tasks_by_id ON tasks (task);
CREATE INDEX tasks_by_execution ON tasks (execution);
CREATE INDEX tasks_by_start ON tasks (started_at, task);
CREATE INDEX tasks_by_update ON tasks (updated_at, task);
CREATE INDEX tasks_by_type ON tasks (task_type, status, started_at, task, other_name);
CREATE INDEX tasks_by_definition ON tasks (other_name, started_at, task) WHERE other_name IS NOT NULL;
CREATE INDEX tasks_by_status ON tasks (status, started_at, task);

-- Types and names of a task never change.
CREATE TABLE task_counts (
    task_type TEXT NOT NULL,
    definition_name TEXT NOT NULL,
    status TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (task_type, definition_name, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tasks_counted AFTER INSERT ON tasks BEGIN
    INSERT INTO task_counts
    VALUES (new.task_type, ifnull(new.other_name, new.task_type), new.status, 1)
    ON CONFLICT DO UPDATE SET number = number + 1;
END;

CREATE TRIGGER tasks_discounted AFTER DELETE ON tasks BEGIN
    UPDATE task_counts SET number = number - 1
    WHERE task_type = old.task_type AND definition_name = ifnull(old.other_name, old.task_type)
    AND status = old.status;
END;

CREATE TRIGGER tasks_recounted AFTER UPDATE OF status ON tasks WHEN old.status <> new.status BEGIN
    UPDATE task_counts SET number = number - 1
    WHERE task_type = old.task_type AND definition_name = ifnull(old.other_name, old.task_type)
    AND status = old.status;
    INSERT INTO task_counts
    VALUES (new.task_type, ifnull(new.other_name, new.task_type), new.status, 1)
    ON CONFLICT DO UPDATE SET number = number + 1;
END;

-- Apart, so that rows stay short. Looked through from one end to the other: trigrams of every task would
-- cost too much.
CREATE TABLE task_words (
    number INTEGER PRIMARY KEY,
    words TEXT NOT NULL
) STRICT;

-- Long runs as they stood after some entry.
CREATE TABLE snapshots (
    execution BLOB PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;
