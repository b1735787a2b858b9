//! # Credit: what leases get for the time in which nobody could renew them
//!
//! A server that was down, frozen or left behind by a wall clock that went forward has heard nobody.
//! Open leases get that time, once, before anybody looks whether they are over.

use rusqlite::Connection;
use semel_model::Timestamp;
use semel_store::{Mirror, StoreError};

use crate::columns::{self, delivery_columns_small};
use crate::{fault, read, write};

const CREDIT: &str = "UPDATE deliveries SET lease_until = min(lease_until, ?1 - ?2) + ?2 \
     WHERE leased AND lease_until IS NOT NULL";
/// Else a start before the first round would credit the same time again.
const ALIVE: &str = "UPDATE lanes SET at = max(at, ?1)";
const LEASED: &str = concat!("SELECT ", delivery_columns_small!(), " FROM deliveries WHERE leased");

/// Durable when it returns.
pub(crate) fn open_leases(
    connection: &Connection,
    ms: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    write::transact(connection, || {
        connection.execute(CREDIT, (i64::MAX, ms)).map_err(fault::of)?;
        connection.execute(ALIVE, [now.ms()]).map_err(fault::of)?;
        Ok(())
    })
}

/// The mirror as the rows are now.
pub(crate) fn reflect(connection: &Connection, mirror: &mut Mirror) -> Result<(), StoreError> {
    let name = || "a row of deliveries".to_owned();
    for row in read::all(connection, LEASED, [], columns::delivery, name)? {
        mirror.replace(&row);
    }
    Ok(())
}
