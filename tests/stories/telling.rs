//! # Tellings: three ways in which the same messages arrive
//!
//! **Plain**: as written. **Echoed**: every message is delivered twice, one after the other.
//! **Broken**: the house dies after every commit, so the answer to whatever changes something is
//! always lost, and the same message is sent again until it is answered.

use anyhow::{Result, bail, ensure};
use semel_runtime::Sabotage;

use crate::house::{House, Message, Reply};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    Plain,
    Echoed,
    Broken,
}

/// What came of one message.
pub(crate) struct Told {
    pub(crate) reply: Reply,
    /// The answer to the second delivery, when there was one on purpose.
    pub(crate) echo: Option<Reply>,
    /// An earlier answer got lost: whatever the message does had been done before this reply.
    pub(crate) was_lost: bool,
}

impl Telling {
    pub(crate) fn sabotage(self) -> Sabotage {
        if self == Self::Broken { Sabotage::DiesAfterCommit } else { Sabotage::None }
    }

    /// Whether messages arrive more than once, so that those without a name of their own need one.
    pub(crate) fn repeats(self) -> bool {
        self != Self::Plain
    }

    pub(crate) fn deliver(self, house: &mut House, message: &Message) -> Result<Told> {
        self.deliver_in(house, message, 1)
    }

    /// A message that is known to take so many commits.
    pub(crate) fn deliver_in(
        self,
        house: &mut House,
        message: &Message,
        commits: usize,
    ) -> Result<Told> {
        let told = match self {
            Self::Plain => Told { reply: house.ask(message)?, echo: None, was_lost: false },
            Self::Echoed => {
                let reply = house.ask(message)?;
                let echo = Some(house.ask(message)?);
                Told { reply, echo, was_lost: false }
            }
            Self::Broken => insist(house, message, commits)?,
        };
        ensure!(told.reply.status != 503, "nobody broke the house, and it answers 503");
        house.settle()?;
        Ok(told)
    }
}

/// One loss per commit is the rule for whatever changes something. One more means that the repeat
/// changed something again, which no message may.
fn insist(house: &mut House, message: &Message, commits: usize) -> Result<Told> {
    for losses in 0..=commits {
        let reply = house.ask(message)?;
        if reply.status != 503 {
            return Ok(Told { reply, echo: None, was_lost: losses > 0 });
        }
        house.revive()?;
        house.settle()?;
    }
    bail!("sent again after its answer was lost, it changed something again")
}

#[test]
fn a_broken_house_answers_a_change_only_when_it_is_repeated() {
    let mut house = House::build(crate::On::Sqlite, Telling::Broken.sabotage()).unwrap();
    let define = Message::post("/api/metadata/taskdefs", "[{\"name\": \"charge\"}]");
    assert!(Telling::Broken.deliver(&mut house, &define).unwrap().was_lost);
    assert!(!Telling::Broken.deliver(&mut house, &define).unwrap().was_lost);
}
