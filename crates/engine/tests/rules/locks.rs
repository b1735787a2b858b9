//! A lock has one owner at a time, and each a larger fence than the one before
//! (docs/reference/idempotency.md#locks).

use semel_engine::{Hold, LetsGo, LockAct, Record, Ruled, Ruling, judge_lock};
use semel_model::Timestamp;

const LEASE_MS: i64 = 10_000;

#[derive(Default)]
struct Lock {
    record: Option<Record>,
    now_ms: i64,
    fence: u64,
}

impl Lock {
    fn call(&mut self, act: &LockAct) -> Ruling {
        self.fence += 1;
        let now = Timestamp::from_ms(self.now_ms);
        let ruling = judge_lock(self.record.as_ref(), act, now, self.fence);
        if let Some(record) = &ruling.record {
            self.record = Some(record.clone());
        }
        ruling
    }

    fn acquire(&mut self, owner: &str) -> Ruled {
        self.call(&LockAct::Acquire { owner: owner.to_owned(), lease_ms: LEASE_MS }).verdict
    }

    fn acquired(&mut self, owner: &str) -> Hold {
        match self.acquire(owner) {
            Ruled::Started { fence, .. } => Hold { owner: owner.to_owned(), fence },
            other => panic!("not acquired: {other:?}"),
        }
    }
}

#[test]
fn a_lock_has_one_owner_until_it_is_given_back() {
    let mut lock = Lock::default();
    let ann = lock.acquired("ann");
    assert!(matches!(lock.acquire("bob"), Ruled::InProgress(_)));
    let release = LockAct::Release { hold: ann.clone() };
    let ruling = lock.call(&release);
    assert!(matches!((ruling.verdict, ruling.lets_go), (Ruled::Noted(_), LetsGo::Oldest)));
    assert!(matches!(lock.call(&release).verdict, Ruled::Repeated(_)));
    let bob = lock.acquired("bob");
    assert!(bob.fence > ann.fence);
    assert!(matches!(lock.call(&release).verdict, Ruled::Stale(Some(_))));
}

#[test]
fn a_person_frees_the_lock_that_was_seen_and_no_later_one() {
    let mut lock = Lock::default();
    let ann = lock.acquired("ann");
    let free = LockAct::Free { fence: ann.fence };
    let ruling = lock.call(&free);
    assert!(matches!((ruling.verdict, ruling.lets_go), (Ruled::Noted(_), LetsGo::Oldest)));
    assert!(matches!(lock.call(&free).verdict, Ruled::Repeated(_)));
    let bob = lock.acquired("bob");
    assert!(bob.fence > ann.fence);
    assert!(matches!(lock.call(&free).verdict, Ruled::Stale(Some(_))));
    let late = LockAct::Release { hold: ann };
    assert!(matches!(lock.call(&late).verdict, Ruled::Stale(Some(_))));
    let nobodys = judge_lock(None, &free, Timestamp::from_ms(0), 9);
    assert!(matches!(nobodys.verdict, Ruled::Stale(None)));
}

#[test]
fn a_lease_that_lapses_frees_the_lock_and_its_owner_cannot_give_it_back() {
    let mut lock = Lock::default();
    let ann = lock.acquired("ann");
    lock.now_ms += LEASE_MS;
    let bob = lock.acquired("bob");
    assert!(bob.fence > ann.fence);
    for act in
        [LockAct::Release { hold: ann.clone() }, LockAct::Renew { hold: ann, lease_ms: LEASE_MS }]
    {
        assert!(matches!(lock.call(&act).verdict, Ruled::Stale(Some(_))));
    }
}

#[test]
fn an_owner_that_renews_in_time_keeps_it() {
    let mut lock = Lock::default();
    let ann = lock.acquired("ann");
    lock.now_ms += LEASE_MS - 1;
    let renew = LockAct::Renew { hold: ann, lease_ms: LEASE_MS };
    assert!(matches!(lock.call(&renew).verdict, Ruled::Noted(_)));
    lock.now_ms += LEASE_MS - 1;
    assert!(matches!(lock.acquire("bob"), Ruled::InProgress(_)));
}

#[test]
fn an_owner_that_asks_again_gets_a_new_fence() {
    let mut lock = Lock::default();
    let ghost = lock.acquired("ann");
    let Ruled::Started { fence, reentrant: true, .. } = lock.acquire("ann") else {
        panic!("not let in again")
    };
    assert!(fence > ghost.fence);
    let release = LockAct::Release { hold: ghost };
    assert!(matches!(lock.call(&release).verdict, Ruled::Stale(Some(_))));
}

#[test]
fn nobody_overtakes_who_waits_in_line() {
    let mut lock = Lock::default();
    lock.acquired("ann");
    lock.record.as_mut().unwrap().detail.line = 1;
    lock.now_ms += LEASE_MS;
    let act = LockAct::Acquire { owner: "bob".to_owned(), lease_ms: LEASE_MS };
    let ruling = lock.call(&act);
    assert!(matches!(ruling.verdict, Ruled::InProgress(_)));
    assert_eq!(ruling.lets_go, LetsGo::Oldest);
}
