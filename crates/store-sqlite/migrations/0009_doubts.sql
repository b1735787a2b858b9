-- When claims of owners outside lapse, and since when nobody knows the outcome of a record.
ALTER TABLE records ADD COLUMN lapses_at INTEGER;

ALTER TABLE records ADD COLUMN doubted_at INTEGER;

UPDATE records SET lapses_at = json_extract(CAST(detail AS TEXT), '$.leaseUntil')
WHERE state = 'CLAIMED' AND substr(scope, 1, 7) = 'effect:' AND length(run) = 0;

UPDATE records SET doubted_at = coalesce(json_extract(CAST(detail AS TEXT), '$.decidedAt'),
    json_extract(CAST(detail AS TEXT), '$.leaseUntil'), created_at)
WHERE state = 'UNKNOWN';

DROP INDEX records_unknown;

CREATE INDEX records_lapsing ON records (lapses_at, scope, key) WHERE lapses_at IS NOT NULL;

CREATE INDEX records_unknown ON records (doubted_at) WHERE state = 'UNKNOWN';
