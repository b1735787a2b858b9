-- Pinned definitions that came with the data of a run; they go with the last run they were given to.
CREATE TABLE given (
    execution BLOB NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (execution, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX given_by_digest ON given (digest);
