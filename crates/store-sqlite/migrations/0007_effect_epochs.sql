-- How often the effect of a task was asked for once more: its name depends on it.
ALTER TABLE deliveries ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
