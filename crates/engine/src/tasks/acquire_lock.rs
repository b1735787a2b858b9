//! # ACQUIRE_LOCK: go on once the lock is this run's
//!
//! Without `leaseSeconds` the lock is the run's until it gives it back or ends. Whoever finds it
//! taken waits in line, and looks now and then whether its owner has let the lease lapse.

use semel_model::{
    ExecutionId, Payload, TaskId, TaskStatus, Timestamp, lock_lease_seconds, lock_name,
};
use serde_json::{Value, json};

use crate::change::Change;
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::record::{Detail, Record, RecordKey, RecordState};
use crate::task::Task;
use crate::turn::Turn;

/// Before the first look at an owner who may have gone; later looks are further apart.
const FIRST_LOOK_MS: i64 = 30_000;

impl Turn<'_> {
    pub(crate) fn begin_acquire(&mut self, id: TaskId) -> Result<(), Stop> {
        let wanted = wanted(&self.execution().expect_task(id).input.value());
        let (key, lease_ms) = match wanted {
            Ok(wanted) => wanted,
            Err(reason) => {
                let status = TaskStatus::FailedWithTerminalError;
                self.end_system(id, status, Payload::empty(), Some(reason));
                return Ok(());
            }
        };
        let (now, run) = (self.now(), self.execution().id());
        let held = self.guard(&key)?.filter(|record| !record.is_expired(now));
        match held {
            Some(record) if record.is_locked_by(run, now) => self.hold_lock(id, &key, record),
            Some(record) if !record.is_free(now) || record.detail.line > 0 => {
                let detail = Detail { task: Some(id), lease_ms, ..Detail::default() };
                let claim = Record { run: Some(run), ..Record::locked(detail, 0, now) };
                self.await_guard(Some(id), &key, claim)?;
                if record.is_free(now) {
                    self.let_go(&key, false)?; // Its owner is gone: whoever waits longest is next.
                }
                self.look_later(id, &record);
            }
            before => {
                let fence = self.fence();
                let detail = Detail { task: Some(id), lease_ms, ..Detail::default() };
                let record = Record { run: Some(run), ..Record::locked(detail, fence, now) };
                let record = match before {
                    Some(before) => record.remembering(&before),
                    None => record,
                };
                self.hold_lock(id, &key, record);
            }
        }
        Ok(())
    }

    /// The lock is this task's, and the task is done.
    fn hold_lock(&mut self, id: TaskId, key: &RecordKey, mut record: Record) {
        let lease_ms = i64::try_from(record.detail.lease_ms).unwrap_or(i64::MAX);
        let lease_until = (lease_ms > 0).then(|| self.now().plus_ms(lease_ms));
        record.detail.lease_until = lease_until;
        let fence = record.detail.fence.to_string();
        let mut output = json!({"name": key.key, "fence": fence});
        if let Some(until) = lease_until {
            output["leaseUntil"] = json!(until);
        }
        self.put_guard(key, Some(record));
        self.end_system(id, TaskStatus::Completed, Payload::from_value(&output), None);
    }

    /// Looks rarer the longer it has waited, so that waiting long costs little.
    fn look_later(&mut self, id: TaskId, record: &Record) {
        let task = self.execution().expect_task(id);
        let waited_ms = self.now().since_ms(task.started_at).max(0);
        let later = self.now().plus_ms(FIRST_LOOK_MS.max(waited_ms / 2));
        let lapse = record.detail.lease_until.filter(|until| *until > self.now());
        let until = lapse.map_or(later, |lapse| lapse.min(later));
        self.emit(Change::TaskWaits { task: id, until });
    }

    /// It is time to look whether the owner is still there.
    pub(crate) fn look_at_lock(&mut self, id: TaskId) -> Result<(), Stop> {
        let Some(task) = self.task(id).filter(|task| !task.status.is_terminal()) else {
            return Ok(());
        };
        let Ok((key, _)) = wanted(&task.input.value()) else { return Ok(()) };
        let Some(record) = self.guard(&key)? else { return Ok(()) };
        if record.state == RecordState::Claimed && record.has_lapsed(self.now()) {
            self.let_go(&key, false)?;
        }
        self.look_later(id, &record);
        Ok(())
    }

    /// Whoever waited in line has the lock now. True: it is used.
    pub(crate) fn take_lock(&mut self, id: TaskId, key: &RecordKey) -> Result<bool, Stop> {
        let Some(record) = self.guard(key)? else { return Ok(false) };
        let is_open = |task: &Task| !task.status.is_terminal() && task.kind() == Kind::AcquireLock;
        let is_wanted = self.task(id).is_some_and(|task| is_open(&task));
        let is_its = record.run == Some(self.execution().id()) && record.detail.task == Some(id);
        if !is_wanted || !is_its || record.state != RecordState::Claimed {
            return Ok(false);
        }
        self.hold_lock(id, key, record);
        Ok(true)
    }

    /// A task that ended before it was its turn waits no more.
    pub(crate) fn leave_line(&mut self, task: &Task) {
        if task.kind() != Kind::AcquireLock || task.status.is_terminal() {
            return;
        }
        if let Ok((RecordKey { scope, key }, _)) = wanted(&task.input.value()) {
            self.emit(Change::LeftLine { task: Some(task.id), scope, key });
        }
    }

    /// What a run that ends still has.
    pub(crate) fn release_locks(&mut self) -> Result<(), Stop> {
        let locks: Vec<_> = self.execution().run().guards.locks.iter().cloned().collect();
        for name in locks {
            self.release_lock(&name)?;
        }
        Ok(())
    }

    /// True: it was this run's until now.
    pub(crate) fn release_lock(&mut self, name: &str) -> Result<bool, Stop> {
        let key = RecordKey::lock(name);
        let run = self.execution().id();
        let is_own = |record: &Record| {
            record.state == RecordState::Claimed && record.run == Some(run) // However late.
        };
        let Some(record) = self.guard(&key)?.filter(is_own) else { return Ok(false) };
        let free = record.unlocked(self.now());
        self.put_guard(&key, Some(free));
        self.let_go(&key, false)?;
        Ok(true)
    }
}

impl Record {
    fn is_locked_by(&self, run: ExecutionId, now: Timestamp) -> bool {
        self.run == Some(run) && !self.is_free(now)
    }
}

/// The lock and for how long: 0 is until the run ends.
fn wanted(input: &Value) -> Result<(RecordKey, u64), String> {
    let name = lock_name(input)?;
    let lease = lock_lease_seconds(input)?.unwrap_or(0);
    Ok((RecordKey::lock(&name), lease.unsigned_abs() * 1_000))
}
