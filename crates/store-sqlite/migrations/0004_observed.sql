-- The trace a task belongs to, for its worker.
ALTER TABLE deliveries ADD COLUMN traceparent TEXT;

-- Runs that have not ended, to be counted; written when a run begins and when it ends.
CREATE INDEX executions_live ON executions (name, version) WHERE ended_at = 0;

-- Almost always empty.
CREATE INDEX executions_parked ON executions (name) WHERE parked IS NOT NULL;
