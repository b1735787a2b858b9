-- The run that a lineage began with, so that its open runs can be counted.
ALTER TABLE executions ADD COLUMN root uuid;

CREATE INDEX executions_open_by_root ON executions (root) WHERE root IS NOT NULL AND ended_at = 0;
