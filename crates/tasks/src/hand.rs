//! # Hands: one task that a worker of ours holds
//!
//! What is said of it is said as every worker says it: with the fence of this hand-out, without the
//! secrets that came with it, and again until somebody has heard it. Said twice is said once.

use std::sync::Arc;
use std::time::Duration;

use semel_engine::{Event, Progress, Report, Slot};
use semel_model::{Digest, Payload, TaskResultStatus};
use semel_runtime::{Class, EventWork, Failure, HandedOut, Renewal, Runtime, Work};
use semel_store::Place;

/// Between two tries to be heard.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

pub(crate) struct Hand {
    runtime: Arc<Runtime>,
    task: HandedOut,
    worker: &'static str,
}

/// What a worker says.
pub(crate) struct Said {
    pub(crate) status: TaskResultStatus,
    pub(crate) output: Payload,
    pub(crate) reason: Option<String>,
    pub(crate) callback_after_seconds: i64,
}

impl Hand {
    pub(crate) fn new(runtime: Arc<Runtime>, task: HandedOut, worker: &'static str) -> Self {
        Self { runtime, task, worker }
    }

    pub(crate) fn task(&self) -> &HandedOut {
        &self.task
    }

    fn place(&self) -> Place {
        Place { execution: self.task.delivery.execution, task: self.task.delivery.task }
    }

    fn fence(&self) -> u64 {
        self.task.delivery.hand_out.fence
    }

    /// How long it may be silent.
    pub(crate) fn lease(&self) -> Duration {
        let step = self.task.definition.step(&self.task.delivery.reference);
        Duration::from_secs(u64::try_from(step.response_timeout_seconds()).unwrap_or(0).max(1))
    }

    /// The input with its secrets in place.
    pub(crate) async fn input(&self) -> Result<Payload, Failure> {
        if !self.task.is_unfinished() {
            return Ok(self.task.delivery.input.clone());
        }
        let task = self.task.clone();
        let confided = self.runtime.blocking(move |world| world.confide(&[task])).await?;
        confided.into_iter().next().map(|confided| confided.input).ok_or(Failure::Unavailable)
    }

    /// Asks for more time; false: the task is somebody else's, or nobody's.
    pub(crate) async fn renew(&self) -> bool {
        let renewal = Renewal {
            place: self.place(),
            fence: Some(self.fence()),
            worker: Some(self.worker.to_owned()),
            is_in_house: true,
        };
        match self.runtime.submit(Work::Renew(renewal), Class::Report).await {
            Ok(_) => true,
            Err(Failure::Rejected(_) | Failure::NoExecution(_)) => false,
            Err(_) => true, // Without an answer, the lease may still hold.
        }
    }

    /// Back into the queue, as if it had not been taken, for whoever comes next.
    pub(crate) async fn give_back(&self, callback_after_seconds: i64) {
        let (status, reason) = (TaskResultStatus::InProgress, None);
        let output = self.task.delivery.output.clone();
        self.report(Said { status, output, reason, callback_after_seconds }).await;
    }

    pub(crate) async fn report(&self, said: Said) {
        let work = loop {
            match self.event(&said).await {
                Ok(work) => break work,
                Err(failure) if self.is_over(&failure) => return,
                Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
            }
        };
        loop {
            let work = Work::Event(Box::new(work.clone()));
            match self.runtime.submit(work, Class::Report).await {
                Ok(_) => return,
                Err(failure) if self.is_over(&failure) => {
                    let place = self.place();
                    tracing::debug!(execution = %place.execution, task = %place.task, %failure,
                        "a report of our own was not taken");
                    return;
                }
                Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
            }
        }
    }

    /// Saying it again would change nothing: it is refused for good, or nobody is left to hear it.
    fn is_over(&self, failure: &Failure) -> bool {
        let may_pass = matches!(
            failure,
            Failure::Busy | Failure::Unavailable | Failure::Outdated | Failure::Store(_)
        );
        !may_pass || self.runtime.is_down()
    }

    async fn event(&self, said: &Said) -> Result<EventWork, Failure> {
        let place = self.place();
        let find = |execution: &semel_engine::Execution| execution.task(place.task).cloned();
        let mask = self.runtime.mask(place.execution, find).await?;
        let output = mask.payload(&said.output).unwrap_or_else(|| said.output.clone());
        let reason = said.reason.as_deref();
        let reason = reason.map(|reason| mask.text(reason).unwrap_or_else(|| reason.to_owned()));
        let fence = self.fence();
        let fingerprint = Digest::of_parts([
            place.task.as_bytes().as_slice(),
            said.status.as_str().as_bytes(),
            output.text().as_bytes(),
            reason.as_deref().unwrap_or_default().as_bytes(),
            self.worker.as_bytes(),
            &fence.to_be_bytes(),
            &said.callback_after_seconds.to_be_bytes(),
        ]);
        let progress = Progress {
            status: said.status,
            output: Slot(0),
            reason,
            worker: Some(self.worker.to_owned()),
            callback_after_seconds: said.callback_after_seconds,
        };
        let report = Report { task: place.task, fence: Some(fence), fingerprint, progress };
        Ok(EventWork {
            execution: place.execution,
            event: Event::Reported(report),
            payloads: vec![output],
            definition: None,
            actor: self.worker.to_owned(),
            event_id: String::new(),
            next: None,
            logs: Vec::new(),
        })
    }
}
