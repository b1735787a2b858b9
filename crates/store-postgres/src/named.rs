//! # Named: rows that are asked for by their names
//!
//! Names come as arrays, and each row is looked for by its own name. A queue is now and then seen nearly
//! empty among very many pages; whoever plans by that would rather read all of it than look for ten
//! rows. With the settings of a lane what is written here leaves no other way: the inner question
//! holds rows, or ends with `OFFSET 0`, and is asked once for each name. To hold rows names come in the
//! one order of holding.
//!
//! Rows are changed where they lie (`ctid`). **May not** be done to a row that is not held, or protected
//! by one that is: if somebody else changes it meanwhile it lies elsewhere, and nothing happens to it.

/// `FROM` names and what is looked for under each of them, as `found`.
macro_rules! by_place {
    ($columns:expr, $end:literal) => {
        concat!(
            "FROM unnest($1::uuid[], $2::uuid[]) AS name (execution, task), LATERAL (SELECT ",
            $columns,
            " FROM deliveries WHERE deliveries.execution = name.execution \
             AND deliveries.task = name.task ",
            $end,
            ") AS found"
        )
    };
}

macro_rules! by_message {
    ($columns:expr, $end:literal) => {
        concat!(
            "FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS name (sender, seq, at), \
             LATERAL (SELECT ",
            $columns,
            " FROM messages WHERE messages.sender = name.sender AND messages.seq = name.seq \
             AND messages.at = name.at ",
            $end,
            ") AS found"
        )
    };
}

macro_rules! by_record {
    ($columns:expr, $end:literal) => {
        concat!(
            "FROM unnest($1::text[], $2::text[]) AS name (scope, key), LATERAL (SELECT ",
            $columns,
            " FROM records WHERE records.scope = name.scope AND records.key = name.key ",
            $end,
            ") AS found"
        )
    };
}

macro_rules! by_document {
    ($columns:expr, $end:literal) => {
        concat!(
            "FROM unnest($1::text[], $2::text[], $3::integer[]) AS name (kind, name, version), \
             LATERAL (SELECT ",
            $columns,
            " FROM documents WHERE documents.kind = name.kind AND documents.name = name.name \
             AND documents.version = name.version ",
            $end,
            ") AS found"
        )
    };
}

/// To read them.
macro_rules! there {
    ($by:ident, $columns:expr) => {
        concat!("SELECT found.* ", $by!($columns, "OFFSET 0"))
    };
}

/// To change them: the end of an UPDATE or DELETE of held rows.
macro_rules! where_named {
    ($by:ident) => {
        concat!("WHERE ctid = ANY (ARRAY (SELECT found.ctid ", $by!("ctid", "OFFSET 0"), "))")
    };
}

pub(crate) use {by_document, by_message, by_place, by_record, there, where_named};
