-- What one execution tells another (receiver), or the world (sink); the other one is NULL. Deleted
-- by whoever has heard it. All but the bodies is read once, at open.
CREATE TABLE messages (
    sender BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    receiver BLOB,
    sink TEXT,
    body BLOB NOT NULL,
    PRIMARY KEY (sender, seq, at)
) STRICT, WITHOUT ROWID;

-- What can go. An index of what has ended, or expires, costs what has not yet nothing.
CREATE INDEX executions_by_end ON executions (ended_at) WHERE ended_at > 0;

ALTER TABLE records ADD COLUMN expires_at INTEGER;

CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
