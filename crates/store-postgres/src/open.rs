//! # Opening: a database that can be trusted, tables that are known, a name for this node
//!
//! Whatever is wrong is said with what to do. Nothing is served before the tables are up to date
//! and open leases have the time that was lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use semel_model::Timestamp;
use semel_store::transfer::Mark;
use semel_store::{Clock, DocumentKey, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::asks::{Asks, Session, values};
use crate::clock::{DatabaseClock, Kept, Seen as Look};
use crate::due::NextKnown;
use crate::fault::{self, Fault};
use crate::heard::Heard;
use crate::hints::Hints;
use crate::index::PostgresIndex;
use crate::link::Link;
use crate::read::DOCUMENT;
use crate::readers::Readers;
use crate::{credit, migrate, missing};

/// `server_version_num` of the oldest that will do.
const VERSION_MIN: i32 = 150_000;

const NODE: &str = "INSERT INTO nodes (name) VALUES ($1) ON CONFLICT DO NOTHING";
const NUMBER: &str = "SELECT number FROM nodes WHERE name = $1";
const COMPANY: &str = "SELECT count(*) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = 'semel lane'";
const COMPANY_LEAVES_WITHIN: Duration = Duration::from_secs(3);
/// Data whose time is further ahead of the clock than a day is not served.
const AHEAD_MS_MAX: i64 = 24 * 3_600_000;
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "the address of the database cannot be read; \
         write postgres://USER:PASSWORD@HOST:PORT/DATABASE"
    )]
    Url(#[source] Error),
    #[error(
        "PostgreSQL at {name} cannot be reached: {said}; is it running, and is the address right?"
    )]
    Unreachable { name: String, said: String },
    #[error(
        "PostgreSQL at {name} does not let {user} in: {said}; \
         check user and password, and pg_hba.conf"
    )]
    Login { name: String, user: String, said: String },
    #[error("there is no database {name}; make it with `createdb`, or correct the address")]
    NoDatabase { name: String },
    #[error(
        "the database refuses what this server needs: {said}; \
         make its user the owner of the database, or grant it CREATE and USAGE on the schema"
    )]
    Rights { said: String },
    #[error("PostgreSQL {found} is too old; 15 or newer is needed")]
    TooOld { found: String },
    #[error(
        "synchronous_commit is off, so a crash of PostgreSQL would lose what was acknowledged; \
         turn it on for this database and its user"
    )]
    NotDurable,
    #[error(
        "the data has schema {found} and needs one that knows {needs}, this binary knows {known}; \
         start the newer release that wrote it, or restore a backup made by this one"
    )]
    Newer { found: u32, needs: u32, known: u32 },
    #[error(
        "migration {number} is not the one that was applied to this data; \
         start a released binary, migrations are never edited"
    )]
    Changed { number: u32 },
    #[error(
        "the copy of {from} into {name} is not finished; run the same `semel copy` again, it goes on \
         where it was and says when it is done"
    )]
    Unfinished { name: String, from: String },
    #[error(
        "the time of the data in {name} is {} days ahead of the clock of the database; set that clock if \
         it is wrong; if the data is, because the clock was once ahead: semel set-clock-back",
        .ahead_ms / 86_400_000
    )]
    Ahead { name: String, ahead_ms: i64 },
    #[error("{lanes} lanes of nodes work on {name}; stop every node first")]
    InUse { name: String, lanes: i64 },
    #[error("threads for connections cannot be started")]
    Threads(#[source] std::io::Error),
    #[error("TLS cannot be used")]
    Tls(#[source] rustls::Error),
    #[error("the database does not do what it is asked")]
    Store(#[from] StoreError),
}

impl From<Fault> for OpenError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

/// How a node works on its database.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names this node, also after a restart. Two that run at once have two names.
    pub node: String,
    /// Connections for reading, at most.
    pub readers_max: usize,
    /// Silence of all nodes for longer than this is added to open leases.
    pub lease_grace_ms: i64,
    /// What it is opened for.
    pub purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To serve it, with others.
    Serve,
    /// To do something to it, or copy it, while nobody serves it. Rows and times stay as they are.
    Alone,
}

impl Options {
    pub fn named(node: impl Into<String>) -> Self {
        let node = node.into();
        Self { node, readers_max: 8, lease_grace_ms: 5_000, purpose: Purpose::Serve }
    }

    /// For whoever works on a database that nobody serves, under the name of what it does.
    pub fn alone(name: impl Into<String>) -> Self {
        Self { lease_grace_ms: i64::MAX, purpose: Purpose::Alone, ..Self::named(name) }
    }
}

/// One database, used by this node among others.
pub struct PostgresStore {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) readers: Arc<Readers>,
    pub(crate) clock: Arc<DatabaseClock>,
    pub(crate) kept: Arc<Clock>,
    pub(crate) index: PostgresIndex,
    pub(crate) node: i64,
    pub(crate) name: String,
    pub(crate) lease_grace_ms: i64,
    /// Until when this node was told of delays that are over; none: of nothing yet.
    pub(crate) told: Mutex<Option<Timestamp>>,
    pub(crate) next: Arc<NextKnown>,
    pub(crate) heard: Heard,
    pub(crate) hints: Hints,
    /// The generation of the documents as rounds under way have read it, by their threads.
    pub(crate) generations: Mutex<HashMap<ThreadId, u64>>,
}

impl PostgresStore {
    /// Brings the tables up to date and takes up this node's work.
    pub fn open(url: &str, options: &Options) -> Result<Self, OpenError> {
        let link = Arc::new(Link::new(url)?);
        let (node, look, last, reader) = link.wait(async {
            let session = first_contact(&link).await?;
            migrate::run(&session, options.purpose).await?;
            match options.purpose {
                Purpose::Serve => refuse_unfinished(&link, &session).await?,
                Purpose::Alone => refuse_company(&link, &session).await?,
            }
            let (look, last) = credit::downtime(&session, options.lease_grace_ms).await?;
            if options.purpose == Purpose::Serve {
                refuse_far_ahead(&link, look, last)?;
            }
            let node = node(&session, &options.node).await?;
            credit::release(&session, node, look.now).await?;
            if options.purpose == Purpose::Serve {
                credit::forget_old_nodes(&session, node, look.now).await?;
            }
            let reader = link.reads_now(session).await?;
            Ok::<_, OpenError>((node, look, last, reader))
        })?;
        let readers = Arc::new(Readers::new(link, options.readers_max, reader));
        let clock = Arc::new(DatabaseClock::new(look, last));
        let next = Arc::<NextKnown>::default();
        let kept = Kept {
            clock: Arc::clone(&clock),
            readers: Arc::clone(&readers),
            next: Arc::clone(&next),
        };
        Ok(Self {
            shared: Arc::new(Shared {
                index: PostgresIndex::new(Arc::clone(&readers)),
                readers,
                clock,
                kept: Arc::new(Clock::elsewhere(kept)),
                node,
                name: options.node.clone(),
                lease_grace_ms: options.lease_grace_ms,
                told: Mutex::default(),
                next,
                heard: Heard::new(options.lease_grace_ms),
                hints: Hints::default(),
                generations: Mutex::default(),
            }),
        })
    }
}

/// Half of a copy is nobody's data.
async fn refuse_unfinished(link: &Link, session: &Session) -> Result<(), OpenError> {
    let DocumentKey { kind, name, version } = Mark::key();
    let rows = session.rows(DOCUMENT, values![kind.as_str(), name, version]).await;
    let rows = rows.map_err(Fault::from)?;
    let mark = rows.first().map(|row| Mark::decode(&missing::document(row)?.1)).transpose()?;
    match mark {
        Some(mark) if !mark.is_done() => {
            Err(OpenError::Unfinished { name: link.name(), from: mark.from().to_owned() })
        }
        _ => Ok(()),
    }
}

/// Time that was once wrong would stand still for as long, and nobody would see why nothing comes due.
/// Nearer than that the clock is waited for, and [`DatabaseClock`] tells it.
fn refuse_far_ahead(link: &Link, look: Look, last: Timestamp) -> Result<(), OpenError> {
    let ahead_ms = last.since_ms(look.now);
    match !look.stands && ahead_ms > AHEAD_MS_MAX {
        true => Err(OpenError::Ahead { name: link.name(), ahead_ms }),
        false => Ok(()),
    }
}

/// A node that was just killed is given time to be missed.
pub(crate) async fn refuse_company(link: &Link, session: &Session) -> Result<(), OpenError> {
    let until = Instant::now() + COMPANY_LEAVES_WITHIN;
    loop {
        let rows = session.rows(COMPANY, Vec::new()).await.map_err(Fault::from)?;
        let lanes = rows.first().map_or(Ok(0), |row| row.try_get(0)).map_err(Fault::from)?;
        if lanes == 0 {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(OpenError::InUse { name: link.name(), lanes });
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn node(session: &Session, name: &str) -> Result<i64, OpenError> {
    let mut asks = Asks::default();
    asks.add(NODE, values![name]);
    let number = asks.add(NUMBER, values![name]);
    let mut answers = session.answers(&asks).await.map_err(Fault::from)?;
    let row = answers.take(number).pop();
    let row = row.ok_or_else(|| StoreError::Corrupt("this node has no number".to_owned()))?;
    Ok(row.try_get(0).map_err(Fault::from)?)
}

/// The first connection: everything a person can have got wrong is found here.
pub(crate) async fn first_contact(link: &Link) -> Result<Session, OpenError> {
    let session = link.opener().await.map_err(|fault| no_contact(link, fault))?;
    let sql = "SELECT current_setting('server_version_num')::integer, \
               current_setting('server_version'), current_setting('synchronous_commit')";
    let row = session.client.query_one(sql, &[]).await.map_err(Fault::from)?;
    refuse_unfit(row.get(0), row.get(1), row.get(2))?;
    Ok(session)
}

/// By `server_version_num`, how that is written, and `synchronous_commit`.
fn refuse_unfit(number: i32, found: &str, durable: &str) -> Result<(), OpenError> {
    if number < VERSION_MIN {
        return Err(OpenError::TooOld { found: found.to_owned() });
    }
    if durable == "off" {
        return Err(OpenError::NotDurable);
    }
    Ok(())
}

fn no_contact(link: &Link, fault: Fault) -> OpenError {
    let Fault::Said(error) = fault else {
        let said = StoreError::from(fault);
        let said = std::error::Error::source(&said).map_or(said.to_string(), ToString::to_string);
        return OpenError::Unreachable { name: link.name(), said };
    };
    let (name, said) = (link.name(), fault::described(&error));
    match error.code() {
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => OpenError::NoDatabase { name },
        Some(code) if code.code().starts_with("28") => {
            OpenError::Login { name, user: link.user().to_owned(), said }
        }
        _ => OpenError::Unreachable { name, said },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_is_too_old_is_refused_by_its_name() {
        let refused = refuse_unfit(140_022, "14.22 (Debian 14.22-1)", "on").unwrap_err();
        assert!(matches!(refused, OpenError::TooOld { .. }), "{refused}");
        let words = "PostgreSQL 14.22 (Debian 14.22-1) is too old; 15 or newer is needed";
        assert_eq!(refused.to_string(), words);
        for (number, found) in [(150_000, "15.0"), (150_013, "15.13"), (180_001, "18.1")] {
            assert!(refuse_unfit(number, found, "on").is_ok(), "{found}");
        }
    }

    #[test]
    fn a_database_must_wait_for_its_disk() {
        assert!(matches!(refuse_unfit(150_000, "15.0", "off"), Err(OpenError::NotDurable)));
        for durable in ["on", "local", "remote_write", "remote_apply"] {
            assert!(refuse_unfit(150_000, "15.0", durable).is_ok(), "{durable}");
        }
    }
}
