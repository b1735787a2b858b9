//! # A site: one server with a disk of its own, or three on one database
//!
//! Suites that kill servers do it here, so that what holds of one server is asked of three as well.

use std::net::SocketAddr;

use anyhow::Result;
use tempfile::TempDir;

use crate::dice::Dice;
use crate::process::{Caller, Server};

/// The same on every node: they share what is sealed.
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const NODES: usize = 3;

pub struct Site {
    servers: Vec<Server>,
    _directories: Vec<TempDir>,
}

impl Site {
    pub fn alone() -> Result<Self> {
        Self::open(1, &[])
    }

    /// Three nodes on the database at that address.
    pub fn cluster(url: &str) -> Result<Self> {
        Self::open(NODES, &["--store", url, "--secrets-key", KEY])
    }

    fn open(nodes: usize, options: &[&str]) -> Result<Self> {
        let directories = (0..nodes).map(|_| Ok(tempfile::tempdir()?));
        let directories: Vec<TempDir> = directories.collect::<Result<_>>()?;
        let servers = directories.iter().map(|at| Server::start(at.path(), options));
        let servers = servers.collect::<Result<_>>()?;
        Ok(Self { servers, _directories: directories })
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.servers.iter().map(Server::address).collect()
    }

    /// Asks one of them after the other.
    pub fn caller(&self) -> Result<Caller> {
        Caller::of(&self.addresses())
    }

    /// One of them, as the dice say.
    pub fn any(&mut self, dice: &mut Dice) -> &mut Server {
        let count = u64::try_from(self.servers.len()).unwrap_or(1);
        let at = usize::try_from(dice.below(count)).unwrap_or(0);
        &mut self.servers[at]
    }

    /// Stops all of them politely.
    pub fn stop(mut self) -> Result<()> {
        self.servers.iter_mut().try_for_each(Server::stop)
    }
}
