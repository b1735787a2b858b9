//! # Start keys: asked twice, started once
//!
//! Contract 1: the sequential object that concurrent starts under one key are linearizable against.

use semel_model::{ExecutionId, IdempotencyStrategy};

use crate::facts::Claim;

/// The key a start brought and what to do when it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartKey {
    pub key: String,
    pub strategy: IdempotencyStrategy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Create,
    Existing(ExecutionId),
    Conflict(ExecutionId),
}

pub fn judge(record: Option<Claim>, strategy: IdempotencyStrategy) -> Standing {
    let Some(record) = record else { return Standing::Create };
    match strategy {
        IdempotencyStrategy::Fail => Standing::Conflict(record.run),
        IdempotencyStrategy::ReturnExisting => Standing::Existing(record.run),
        IdempotencyStrategy::FailOnRunning if record.live => Standing::Conflict(record.run),
        IdempotencyStrategy::FailOnRunning => Standing::Create,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequential_object_of_contract_1() {
        let run = ExecutionId::from_bytes([1; 16]);
        let record = |live| Claim { run, live };
        let (live, closed) = (record(true), record(false));
        let table = [
            (IdempotencyStrategy::Fail, Standing::Conflict(run), Standing::Conflict(run)),
            (IdempotencyStrategy::ReturnExisting, Standing::Existing(run), Standing::Existing(run)),
            (IdempotencyStrategy::FailOnRunning, Standing::Conflict(run), Standing::Create),
        ];
        for (strategy, when_live, when_closed) in table {
            assert_eq!(judge(None, strategy), Standing::Create);
            assert_eq!(judge(Some(live), strategy), when_live);
            assert_eq!(judge(Some(closed), strategy), when_closed);
        }
    }
}
