//! # Between: somebody who carries what a store and its database say, and cuts them off

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use semel_tests::postgres;

use crate::fixture::Database;

/// As the database says that a COMMIT is done: a kind, a length, a name. Nothing of it arrives.
pub(crate) const COMMITTED: Cut = Cut { at: b"C\0\0\0\x0bCOMMIT\0", passes: 0 };
/// As the database passes on a hint; what it is about does not arrive.
pub(crate) const HINTED: Cut = Cut { at: b"semel_ready\0", passes: 6 };

/// Where both are cut off, and how much of it still arrives.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    at: &'static [u8],
    passes: usize,
}

pub(crate) struct Between {
    port: u16,
    next: Arc<Mutex<Option<Cut>>>,
}

impl Between {
    /// Before the database of these tests.
    pub(crate) fn stand() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let database = postgres::shared().port();
        let next = Arc::new(Mutex::new(None));
        let cuts = Arc::clone(&next);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(database) = TcpStream::connect(("127.0.0.1", database)) else { continue };
                let ends = [&client, &database].map(|end| end.try_clone().unwrap());
                std::thread::spawn(move || carry(client, database, &Mutex::new(None)));
                let [client, database] = ends;
                let cuts = Arc::clone(&cuts);
                std::thread::spawn(move || carry(database, client, &cuts));
            }
        });
        Self { port, next }
    }

    /// The same database, by way of this.
    pub(crate) fn way_to(&self, database: &Database) -> Database {
        let (far, near) = (postgres::shared().port(), self.port);
        Database { url: database.url.replace(&format!(":{far}/"), &format!(":{near}/")) }
    }

    /// The next time the database says that.
    pub(crate) fn cut_at(&self, cut: Cut) {
        *self.next.lock().unwrap() = Some(cut);
    }

    pub(crate) fn has_cut(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }
}

/// Until one of them has ended, or they are cut off: then both have.
fn carry(mut from: TcpStream, mut to: TcpStream, next: &Mutex<Option<Cut>>) {
    let mut said = vec![0; 1 << 16];
    let mut kept = 0; // What it is cut at may come in two parts.
    while let Ok(count @ 1..) = from.read(&mut said[kept..]) {
        let end = kept + count;
        let cut = next.lock().unwrap().take_if(|cut| position(cut, &said[..end]).is_some());
        let until = cut.and_then(|cut| Some(position(&cut, &said[..end])? + cut.passes));
        let passed = &said[kept..until.unwrap_or(end).max(kept)];
        if to.write_all(passed).is_err() || cut.is_some() {
            break;
        }
        let tail = end.saturating_sub(COMMITTED.at.len() - 1);
        said.copy_within(tail..end, 0);
        kept = end - tail;
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both); // It may be closed.
    }
}

fn position(cut: &Cut, said: &[u8]) -> Option<usize> {
    said.windows(cut.at.len()).position(|it| it == cut.at)
}
