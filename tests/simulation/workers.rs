//! # Workers: diligent, slow, forgetful, dead
//!
//! Each is a small state machine: poll, work, report until answered. Some hold a task far past its
//! lease and report it all the same.

use semel_engine::{Event, Progress, Queue, Report, Slot};
use semel_model::{Digest, ExecutionId, Payload, TaskId, TaskResultStatus};
use semel_runtime::{HandedOut, Next, Renewal};
use semel_store::Place;

use crate::chance::Chance;
use crate::network::{Call, Request};

pub(crate) struct Worker {
    pub(crate) name: String,
    pub(crate) queue: Queue,
    pub(crate) state: State,
}

pub(crate) enum State {
    Idle,
    /// Waiting for the answer to a request.
    Calling(Call, Purpose),
    /// Busy with a task until that step of the simulation.
    Working(Job, u64),
}

#[derive(Clone)]
pub(crate) enum Purpose {
    Poll,
    Report(Said),
    Renew(Job, u64),
}

/// A report that is on its way.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) job: Job,
    pub(crate) status: TaskResultStatus,
    pub(crate) fingerprint: Digest,
    /// It carries its fence, and a later hand-out of the task was known before it was first sent:
    /// taking it would be wrong.
    pub(crate) superseded: bool,
}

/// A task in a worker's hands.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) execution: ExecutionId,
    pub(crate) task: TaskId,
    pub(crate) fence: u64,
}

impl Job {
    pub(crate) fn of(out: &HandedOut) -> Self {
        let row = &out.delivery;
        Self { execution: row.execution, task: row.task, fence: row.hand_out.fence }
    }
}

impl Worker {
    pub(crate) fn poll(&self, chance: &mut Chance) -> Request {
        Request::Claim {
            queue: self.queue.clone(),
            worker: self.name.clone(),
            token: Digest::of(&chance.bytes()),
            named: chance.once_in(2),
            wait_ms: if chance.once_in(2) { 2_000 } else { 0 },
        }
    }

    pub(crate) fn renewal(&self, job: &Job) -> Request {
        let place = Place { execution: job.execution, task: job.task };
        let (fence, worker) = (Some(job.fence), Some(self.name.clone()));
        Request::Renew(Renewal { place, fence, worker, is_in_house: false })
    }

    /// A report with or without the fence, sometimes asking for the next task.
    pub(crate) fn report(
        &self,
        job: &Job,
        status: TaskResultStatus,
        latest_fence: u64,
        chance: &mut Chance,
    ) -> (Request, Said) {
        let output = format!(r#"{{"by":"{}","draw":{}}}"#, self.name, chance.draw());
        let output = Payload::from_text(output).expect("it is JSON");
        let fence = (!chance.once_in(3)).then_some(job.fence);
        let fingerprint = Digest::of(output.text().as_bytes());
        let report = Report {
            task: job.task,
            fence,
            fingerprint,
            progress: Progress {
                status,
                output: Slot(0),
                reason: None,
                worker: Some(self.name.clone()),
                callback_after_seconds: 1,
            },
        };
        let next = chance.once_in(2).then(|| Next {
            worker: Some(self.name.clone()),
            token: Digest::of_parts([b"next".as_slice(), fingerprint.as_bytes()]),
        });
        let request = Request::Event {
            execution: job.execution,
            event: Box::new(Event::Reported(report)),
            payload: Some(output),
            next,
        };
        let superseded = fence.is_some_and(|fence| fence < latest_fence);
        (request, Said { job: job.clone(), status, fingerprint, superseded })
    }
}
