-- A worker may ask about its task at a node that has not heard of it from the index yet.
CREATE INDEX deliveries_by_task ON deliveries (task);
