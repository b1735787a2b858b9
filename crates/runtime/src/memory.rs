//! # Memory: one budget in bytes, and who has which share of it
//!
//! | share | for |
//! | --- | --- |
//! | three eighths | executions kept in memory; runs that are over have an eighth of that at most |
//! | an eighth | definitions kept in memory |
//! | a quarter | answers on their way to clients |
//! | a quarter | requests: their bodies, long heads, and the buffers of connections |
//!
//! What a node needs besides (code, connections, queues, the database's own caches) is small or has a
//! limit of its own, and is not counted here.

/// What is planned with when nobody says how much there is.
const BYTES_UNSAID: u64 = 1 << 30;

/// However much there is, one answer is no larger: clients read it whole.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Bytes that large things may hold together, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(BYTES_UNSAID)
    }
}

impl Budget {
    /// Of so many bytes.
    pub fn of(bytes: u64) -> Self {
        Self { bytes }
    }

    /// All of it.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// For executions that are kept so that nobody has to load them again.
    pub fn executions(self) -> u64 {
        self.bytes / 8 * 3
    }

    /// For definitions that are kept so that nobody has to read them again.
    pub fn definitions(self) -> u64 {
        self.bytes / 8
    }

    /// Of those, for runs that are over: they are read now and then, and never decided again.
    pub fn ended(self) -> u64 {
        self.executions() / 8
    }

    /// For answers that are being made or sent.
    pub fn answers(self) -> u64 {
        self.bytes / 4
    }

    /// For one of them: a few large ones do not keep each other from being given.
    pub fn answer(self) -> u64 {
        (self.answers() / 4).min(ANSWER_BYTES_MAX)
    }

    /// For bodies of requests that are being read or worked on.
    pub fn bodies(self) -> u64 {
        self.bytes / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_more_than_the_whole() {
        for bytes in [0, 1, 64 << 20, 1 << 30, u64::MAX] {
            let budget = Budget::of(bytes);
            let kept = budget.executions() + budget.definitions();
            assert!(kept + budget.answers() + budget.bodies() <= bytes);
            assert!(budget.ended() <= budget.executions() && budget.answer() <= budget.answers());
        }
    }
}
