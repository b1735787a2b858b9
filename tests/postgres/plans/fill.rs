//! # Fill: tables as they are after a while

/// So many that reading a table from one end to the other is never the cheapest way.
pub(super) const TABLES: &str = "
INSERT INTO executions (id, seq, digest, wake_at, due_at, status, name, version, correlation_id,
        principal, started_at, updated_at, ended_at)
    SELECT md5(n::text)::uuid, 3, '\\x00', CASE WHEN n <= 2000 THEN n END, CASE WHEN n <= 2000 THEN n END,
        'RUNNING', 'w' || n % 20, 1, 'c' || n, 'p', n, n, CASE WHEN n <= 2000 THEN 0 ELSE n END
    FROM generate_series(1, 10000) n;
INSERT INTO journal SELECT md5(n::text)::uuid, seq, decode(repeat('00', 200), 'hex')
    FROM generate_series(1, 10000) n, generate_series(1, 3) seq;
INSERT INTO deliveries (execution, task, fence, leased, worker, lease_until, started_at, updated_at, polls,
        token, armed, task_type, domain, priority, ready_at, seq, reference, attempt, scheduled_at, definition,
        epoch, input, output, due_at, delayed)
    SELECT md5(n::text)::uuid, md5('t' || n)::uuid, n, n % 4 = 0, 'ann', n, n, n, 1,
        CASE WHEN n % 4 = 0 THEN sha256(n::text::bytea) END, true, 'type' || n % 20,
        CASE WHEN n % 3 = 0 THEN 'domain' || n % 50 END, 0, n, n, 'r', 0, n, '\\x00', 0, '\\x00', '\\x00',
        CASE WHEN n % 4 = 0 THEN n END, n % 10 = 1
    FROM generate_series(1, 10000) n;
INSERT INTO messages (sender, seq, at, receiver, body, waits_scope, waits_key, waits_since, due_at)
    SELECT md5(n::text)::uuid, 1, 0, md5('to' || n)::uuid, '\\x00', CASE WHEN n <= 5000 THEN 'lock' END,
        CASE WHEN n <= 5000 THEN 'k' || n % 100 END, CASE WHEN n <= 5000 THEN n END,
        CASE WHEN n > 5000 THEN n - 5000 END
    FROM generate_series(1, 10000) n;
INSERT INTO records (scope, key, run, live, version, created_at, expires_at, state)
    SELECT 'start:w' || n % 10, 'k' || n, md5(n::text)::uuid, true, 1, n,
        CASE WHEN n % 2 = 0 THEN n END, 'COMPLETED' FROM generate_series(1, 10000) n;
INSERT INTO limits SELECT 'type' || n, '{}' FROM generate_series(1, 2000) n;
INSERT INTO pinned SELECT sha256(n::text::bytea), decode(repeat('00', 200), 'hex')
    FROM generate_series(1, 5000) n;
INSERT INTO given SELECT md5(n::text)::uuid, sha256((n % 2000)::text::bytea)
    FROM generate_series(1, 10000) n;
INSERT INTO documents SELECT 'k' || n % 5, 'n' || n, 1, decode(repeat('00', 200), 'hex')
    FROM generate_series(1, 5000) n;
INSERT INTO task_logs SELECT md5(n::text)::uuid, md5('t' || n)::uuid, line, 1, 0, line, 0, n, 'said'
    FROM generate_series(1, 10000) n, generate_series(1, 2) line;
INSERT INTO placeholders SELECT sha256(n::text::bytea) FROM generate_series(1, 5000) n;
INSERT INTO runs SELECT md5(n::text)::uuid, 3, 'w' || n % 20, 1, 'COMPLETED', 'c' || n, '', '\\x', 0, n, n, n,
        false, n % 100 > 0, 'words' FROM generate_series(1, 10000) n;
INSERT INTO tasks SELECT md5('t' || n)::uuid, 3, md5((n % 10000)::text)::uuid, 'w', 'type' || n % 20,
        'type' || n % 20, 'r', 'COMPLETED', n, n, n, n, 'words' FROM generate_series(1, 20000) n;
INSERT INTO snapshots SELECT md5(n::text)::uuid, decode(repeat('00', 200), 'hex')
    FROM generate_series(1, 5000) n;
";

/// As they are after a rush: a few rows are left, at the end of very many pages. Whoever plans with that
/// believes that each of them is far away, and that all of them are quickly read.
pub(super) const EMPTIED: &str = "
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
            AND relname NOT IN ('clock', 'meta', 'lanes', 'nodes', 'migrations') LOOP
        EXECUTE format('DELETE FROM %I WHERE ctid < (SELECT min(ctid)
            FROM (SELECT ctid FROM %I ORDER BY ctid DESC LIMIT 3) AS last)', name, name);
    END LOOP;
END $$;
";
