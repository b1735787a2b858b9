-- Records of every kind: what they stand for, and what only some kinds remember.
ALTER TABLE records ADD COLUMN state TEXT NOT NULL DEFAULT 'COMPLETED';

ALTER TABLE records ADD COLUMN detail BLOB;

-- A message that waits on a record is carried when the record lets it go, the oldest first.
ALTER TABLE messages ADD COLUMN waits_scope TEXT;

ALTER TABLE messages ADD COLUMN waits_key TEXT;

ALTER TABLE messages ADD COLUMN waits_since INTEGER;

CREATE INDEX messages_waiting ON messages (waits_scope, waits_key, waits_since)
    WHERE waits_scope IS NOT NULL;
