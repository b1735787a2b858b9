-- What workers wrote about their tasks. The round that noted a line, and its place in it, tell lines
-- of the same moment apart.
CREATE TABLE task_logs (
    execution BLOB NOT NULL,
    task BLOB NOT NULL,
    noted_at INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    round INTEGER NOT NULL,
    at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (execution, task, noted_at, lane, round, at)
) STRICT, WITHOUT ROWID;
