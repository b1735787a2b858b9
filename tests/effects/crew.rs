//! # A crew: workers that are replaced when they die

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::Result;
use semel_tests::dice::Dice;

use crate::worker::{KEYED, MORTAL, NAME, ORACLE, SERVERS};

pub(crate) struct Crew {
    servers: String,
    oracle: String,
    keyed: bool,
    dice: Dice,
    members: Vec<Child>,
    hired: usize,
    pub(crate) deaths: u64,
}

impl Crew {
    pub(crate) fn hire(
        servers: &[SocketAddr],
        oracle: &str,
        keyed: bool,
        count: usize,
        dice: Dice,
    ) -> Result<Self> {
        let servers: Vec<_> = servers.iter().map(SocketAddr::to_string).collect();
        let (servers, oracle, members) = (servers.join(","), oracle.to_owned(), Vec::new());
        let mut crew = Self { servers, oracle, keyed, dice, members, hired: 0, deaths: 0 };
        for _ in 0..count {
            crew.add(true)?;
        }
        Ok(crew)
    }

    fn add(&mut self, mortal: bool) -> Result<()> {
        self.hired += 1;
        let member = Command::new(std::env::current_exe()?)
            .args(["--exact", "worker::a_worker_at_work", "--ignored"])
            .env(SERVERS, &self.servers)
            .env(ORACLE, &self.oracle)
            .env(NAME, format!("w{}", self.hired))
            .env(KEYED, if self.keyed { "1" } else { "0" })
            .env(MORTAL, if mortal { "1" } else { "0" })
            .env("SEMEL_SEED", self.dice.below(1 << 30).to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.members.push(member);
        Ok(())
    }

    /// Replaces the dead, by immortals once there was enough dying.
    pub(crate) fn look(&mut self, mortal: bool) -> Result<()> {
        let mut living = Vec::new();
        let mut died = 0;
        for mut member in self.members.drain(..) {
            match member.try_wait()? {
                Some(_) => died += 1,
                None => living.push(member),
            }
        }
        self.members = living;
        self.deaths += died;
        for _ in 0..died {
            self.add(mortal)?;
        }
        Ok(())
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.kill();
            let _ = member.wait();
        }
    }
}
