-- When claims of owners outside lapse, and since when nobody knows the outcome of a record.
ALTER TABLE records ADD COLUMN lapses_at bigint, ADD COLUMN doubted_at bigint;

UPDATE records
SET lapses_at = substring(convert_from(detail, 'UTF8') FROM '"leaseUntil":([0-9]+)')::bigint
WHERE state = 'CLAIMED' AND scope LIKE 'effect:%' AND run IS NULL;

UPDATE records SET doubted_at = coalesce(
    substring(convert_from(detail, 'UTF8') FROM '"decidedAt":([0-9]+)')::bigint,
    substring(convert_from(detail, 'UTF8') FROM '"leaseUntil":([0-9]+)')::bigint, created_at)
WHERE state = 'UNKNOWN';

CREATE INDEX records_lapsing ON records (lapses_at, scope, key)
WHERE lapses_at IS NOT NULL AND state = 'CLAIMED';

CREATE INDEX records_doubted ON records (doubted_at) WHERE state = 'UNKNOWN';
