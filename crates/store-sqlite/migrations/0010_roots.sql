-- The run that a lineage began with, so that its open runs can be counted.
ALTER TABLE executions ADD COLUMN root BLOB;

CREATE INDEX executions_open_by_root ON executions (root, ended_at)
WHERE root IS NOT NULL AND ended_at = 0;
