//! What is said of an effect, call by call, and of random calls whatever they are
//! (docs/reference/idempotency.md#ledger).

use proptest::prelude::*;
use semel_engine::{
    Act, Attempt, Hold, LetsGo, Record, RecordKey, RecordState, Ruled, Ruling, judge_ledger,
};
use semel_model::{Digest, ExecutionId, Payload, Timestamp};
use serde_json::json;

const LEASE_MS: i64 = 10_000;
const RETENTION_MS: i64 = 100_000;

/// One record, and whoever calls.
#[derive(Default)]
struct Ledger {
    record: Option<Record>,
    now_ms: i64,
    fence: u64,
}

impl Ledger {
    fn call(&mut self, act: &Act) -> Ruling {
        self.fence += 1;
        let now = Timestamp::from_ms(self.now_ms);
        let ruling = judge_ledger(self.record.as_ref(), act, now, self.fence);
        if let Some(record) = &ruling.record {
            self.record = Some(record.clone());
        }
        ruling
    }

    fn try_start(&mut self, owner: &str) -> Ruled {
        self.call(&Act::TryStart(attempt(owner))).verdict
    }

    fn started(&mut self, owner: &str) -> Hold {
        match self.try_start(owner) {
            Ruled::Started { fence, .. } => hold(owner, fence),
            other => panic!("not started: {other:?}"),
        }
    }

    fn state(&self) -> RecordState {
        self.record.as_ref().expect("somebody has asked").state
    }
}

fn attempt(owner: &str) -> Attempt {
    Attempt {
        owner: owner.to_owned(),
        lease_ms: LEASE_MS,
        fingerprint: None,
        takes_over: false,
        retention_ms: RETENTION_MS,
    }
}

fn hold(owner: &str, fence: u64) -> Hold {
    Hold { owner: owner.to_owned(), fence }
}

fn complete(hold: &Hold, result: &serde_json::Value) -> Act {
    Act::Complete { hold: hold.clone(), result: Payload::from_value(result) }
}

#[test]
fn of_two_who_ask_one_is_told_to_go_ahead_and_the_other_hears_the_result() {
    let mut ledger = Ledger::default();
    let ann = ledger.started("ann");
    assert!(matches!(ledger.try_start("bob"), Ruled::InProgress(_)));
    let ruling = ledger.call(&complete(&ann, &json!({"charge": 1, "to": "x"})));
    assert_eq!(ruling.lets_go, LetsGo::All);
    for owner in ["ann", "bob"] {
        let Ruled::Decided(record) = ledger.try_start(owner) else { panic!("asked again") };
        assert_eq!(record.detail.result.unwrap().value(), json!({"charge": 1, "to": "x"}));
    }
}

#[test]
fn the_same_word_again_is_repeated_and_another_is_a_contradiction() {
    let mut ledger = Ledger::default();
    let ann = ledger.started("ann");
    ledger.call(&complete(&ann, &json!({"a": 1, "b": 2.0})));
    let again = ledger.call(&complete(&ann, &json!({"b": 2, "a": 1}))).verdict;
    assert!(matches!(again, Ruled::Repeated(_)), "{again:?}");
    let other = ledger.call(&complete(&ann, &json!({"a": 2}))).verdict;
    assert!(matches!(other, Ruled::Contradicted(_)), "{other:?}");
    let ghost = ledger.call(&complete(&hold("bob", ann.fence), &json!({}))).verdict;
    assert!(matches!(ghost, Ruled::Stale(Some(_))), "{ghost:?}");
}

#[test]
fn an_owner_who_comes_back_wins_over_its_own_ghost() {
    let mut ledger = Ledger::default();
    let ghost = ledger.started("ann");
    let Ruled::Started { fence, reentrant: true, takeover: false, .. } = ledger.try_start("ann")
    else {
        panic!("not let in again")
    };
    assert!(fence > ghost.fence);
    let late = ledger.call(&complete(&ghost, &json!({}))).verdict;
    assert!(matches!(late, Ruled::Stale(Some(_))), "{late:?}");
    let alive = ledger.call(&complete(&hold("ann", fence), &json!({}))).verdict;
    assert!(matches!(alive, Ruled::Noted(_)), "{alive:?}");
}

#[test]
fn of_an_owner_who_fell_silent_nobody_knows_until_somebody_takes_over() {
    let mut ledger = Ledger::default();
    let silent = ledger.started("ann");
    ledger.now_ms += LEASE_MS;
    let ruling = ledger.call(&Act::TryStart(attempt("bob")));
    assert!(matches!(ruling.verdict, Ruled::Unknown(_)));
    assert_eq!((ledger.state(), ruling.lets_go), (RecordState::Unknown, LetsGo::All));
    let takes_over = Attempt { takes_over: true, ..attempt("bob") };
    let Ruled::Started { takeover: true, .. } = ledger.call(&Act::TryStart(takes_over)).verdict
    else {
        panic!("not taken over")
    };
    let late = ledger.call(&complete(&silent, &json!({}))).verdict;
    assert!(matches!(late, Ruled::Stale(Some(_))), "{late:?}");
}

#[test]
fn a_claim_comes_into_doubt_when_its_lease_is_over_though_nobody_asks() {
    let mut ledger = Ledger::default();
    assert!(matches!(ledger.call(&Act::Lapse).verdict, Ruled::Missing));
    let silent = ledger.started("ann");
    ledger.now_ms += LEASE_MS - 1;
    assert!(ledger.call(&Act::Lapse).record.is_none(), "its lease is not over");
    let key = RecordKey::effect("charge", "1");
    let until = Some(Timestamp::from_ms(ledger.now_ms + 1));
    assert_eq!(ledger.record.as_ref().unwrap().lapses_at(&key), until);
    assert_eq!(ledger.record.as_ref().unwrap().lapses_at(&RecordKey::lock("1")), None);
    ledger.now_ms += 7;
    let ruling = ledger.call(&Act::Lapse);
    assert!(matches!(ruling.verdict, Ruled::Unknown(_)), "{:?}", ruling.verdict);
    assert_eq!((ledger.state(), ruling.lets_go), (RecordState::Unknown, LetsGo::All));
    let record = ledger.record.clone().unwrap();
    assert_eq!((record.doubted_at(), record.lapses_at(&key)), (until, None), "the lease's end");
    assert!(ledger.call(&Act::Lapse).record.is_none(), "once");
    let lease_ms = LEASE_MS;
    ledger.call(&Act::Renew { hold: silent, lease_ms });
    let renewed = ledger.record.clone().unwrap();
    assert_eq!((renewed.doubted_at(), renewed.detail.decided_at), (None, None), "it lives");
    let of_a_run = Record { run: Some(ExecutionId::from_bytes([1; 16])), ..renewed };
    ledger.now_ms += LEASE_MS;
    ledger.record = Some(of_a_run);
    assert!(ledger.call(&Act::Lapse).record.is_none(), "a run speaks for itself");
}

#[test]
fn a_late_word_of_the_last_owner_settles_what_nobody_knew() {
    let mut ledger = Ledger::default();
    let silent = ledger.started("ann");
    ledger.now_ms += LEASE_MS;
    ledger.try_start("bob");
    assert!(matches!(ledger.call(&complete(&silent, &json!(1))).verdict, Ruled::Noted(_)));
    assert_eq!(ledger.state(), RecordState::Completed);
}

#[test]
fn another_fingerprint_is_refused_until_the_effect_is_released() {
    let mut ledger = Ledger::default();
    let with =
        |text: &str| Attempt { fingerprint: Some(Digest::of(text.as_bytes())), ..attempt("ann") };
    let Ruled::Started { fence, .. } = ledger.call(&Act::TryStart(with("10 EUR"))).verdict else {
        panic!("not started")
    };
    let other = ledger.call(&Act::TryStart(with("20 EUR"))).verdict;
    assert!(matches!(other, Ruled::Mismatch(_)), "{other:?}");
    let release = Act::Release { hold: hold("ann", fence) };
    assert_eq!(ledger.call(&release).lets_go, LetsGo::Oldest);
    assert!(matches!(ledger.call(&release).verdict, Ruled::Repeated(_)));
    let free = ledger.call(&Act::TryStart(with("20 EUR"))).verdict;
    assert!(matches!(free, Ruled::Started { reentrant: false, .. }), "{free:?}");
}

#[test]
fn a_failure_is_final_or_lets_another_try() {
    let mut ledger = Ledger::default();
    let error = Payload::from_value(&json!("card declined"));
    let first = ledger.started("ann");
    let fail =
        |hold: &Hold, is_final| Act::Fail { hold: hold.clone(), error: error.clone(), is_final };
    assert_eq!(ledger.call(&fail(&first, false)).lets_go, LetsGo::Oldest);
    let second = ledger.started("bob");
    assert_eq!(ledger.call(&fail(&second, true)).lets_go, LetsGo::All);
    let Ruled::Decided(record) = ledger.try_start("ann") else { panic!("tried again") };
    assert_eq!((record.state, record.detail.result), (RecordState::Failed, Some(error)));
}

#[test]
fn what_is_over_for_long_enough_counts_as_never_asked_for() {
    let mut ledger = Ledger::default();
    let ann = ledger.started("ann");
    ledger.call(&complete(&ann, &json!({})));
    ledger.now_ms += RETENTION_MS - 1;
    assert!(matches!(ledger.try_start("bob"), Ruled::Decided(_)));
    ledger.now_ms += 1;
    assert!(matches!(ledger.try_start("bob"), Ruled::Started { .. }));
}

#[test]
fn what_a_task_has_is_not_given_to_a_caller() {
    let run = Some(ExecutionId::from_bytes([7; 16]));
    let claimed = Record { run, ..Record::new(RecordState::Claimed, Timestamp::from_ms(0)) };
    let mut ledger = Ledger { record: Some(claimed), ..Ledger::default() };
    assert!(matches!(ledger.try_start("ann"), Ruled::InProgress(_)));
    assert!(matches!(ledger.call(&Act::Reset).verdict, Ruled::InProgress(_)));
    let complete = ledger.call(&complete(&hold("", 0), &json!({}))).verdict;
    assert!(matches!(complete, Ruled::Stale(Some(_))), "{complete:?}");
}

#[test]
fn a_reset_leaves_a_tombstone_and_the_next_one_goes_ahead() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.call(&Act::Reset).verdict, Ruled::Missing);
    let ann = ledger.started("ann");
    ledger.call(&complete(&ann, &json!({})));
    assert!(matches!(ledger.call(&Act::Reset).verdict, Ruled::Noted(_)));
    assert!(matches!(ledger.call(&Act::Reset).verdict, Ruled::Repeated(_)));
    assert!(matches!(ledger.try_start("bob"), Ruled::Started { .. }));
    let late = ledger.call(&complete(&ann, &json!({}))).verdict;
    assert!(matches!(late, Ruled::Stale(Some(_))), "{late:?}");
}

#[derive(Clone, Debug)]
enum Step {
    Try {
        owner: usize,
        takes_over: bool,
    },
    /// With the hold that owner was last given.
    Complete(usize),
    Release(usize),
    Fail(usize, bool),
    Renew(usize),
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let owner = 0..3_usize;
    let step = prop_oneof![
        4 => (owner.clone(), any::<bool>())
            .prop_map(|(owner, takes_over)| Step::Try { owner, takes_over }),
        2 => owner.clone().prop_map(Step::Complete),
        1 => owner.clone().prop_map(Step::Release),
        1 => (owner.clone(), any::<bool>()).prop_map(|(owner, is_final)| Step::Fail(owner, is_final)),
        1 => owner.prop_map(Step::Renew),
        2 => (1..LEASE_MS * 2).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    /// The last one who was told to go ahead is the only one whose word counts; once it has
    /// happened nobody is told to go ahead; and only whoever said so takes over what is unknown.
    #[test]
    fn one_word_counts(steps in steps()) {
        let names = ["ann", "bob", "cat"];
        let mut ledger = Ledger::default();
        let mut holds: [Option<Hold>; 3] = [None, None, None];
        let mut last: Option<(usize, u64)> = None;
        let mut is_over = false;
        for step in steps {
            let owner = match &step {
                Step::Try { owner, .. } | Step::Complete(owner) | Step::Release(owner)
                | Step::Fail(owner, _) | Step::Renew(owner) => *owner,
                Step::Pass(ms) => {
                    ledger.now_ms += ms.min(&(LEASE_MS * 2)); // Never as long as it is remembered.
                    is_over &= ledger.record.as_ref().is_some_and(|record| {
                        !record.is_expired(Timestamp::from_ms(ledger.now_ms))
                    });
                    continue;
                }
            };
            let held = holds[owner].clone().unwrap_or_else(|| hold(names[owner], 0));
            let lapsed = ledger.record.as_ref().is_some_and(|record| {
                record.has_lapsed(Timestamp::from_ms(ledger.now_ms))
            });
            let act = match step {
                Step::Try { takes_over, .. } => {
                    Act::TryStart(Attempt { takes_over, ..attempt(names[owner]) })
                }
                Step::Complete(_) => complete(&held, &json!(owner)),
                Step::Release(_) => Act::Release { hold: held.clone() },
                Step::Fail(_, is_final) => {
                    Act::Fail { hold: held.clone(), error: Payload::empty(), is_final }
                }
                Step::Renew(_) => Act::Renew { hold: held.clone(), lease_ms: LEASE_MS },
                Step::Pass(_) => continue,
            };
            let before = ledger.record.as_ref().map(|record| record.state);
            match ledger.call(&act).verdict {
                Ruled::Started { fence, reentrant, takeover, .. } => {
                    prop_assert!(!is_over, "it has happened");
                    prop_assert!(last.is_none_or(|(_, last)| fence > last));
                    let open = matches!(before, Some(RecordState::Claimed | RecordState::Unknown));
                    prop_assert!(!open || reentrant || takeover);
                    prop_assert!(!reentrant || (last.map(|it| it.0) == Some(owner) && !lapsed));
                    holds[owner] = Some(hold(names[owner], fence));
                    last = Some((owner, fence));
                }
                Ruled::Noted(record) => {
                    prop_assert_eq!(Some((owner, held.fence)), last, "a stale word counted");
                    is_over = matches!(record.state, RecordState::Completed | RecordState::Failed);
                }
                _ => {}
            }
        }
    }
}
