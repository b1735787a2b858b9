//! # Hearing: answers reach their clients, who remember what they were told

use semel_engine::{Event, Rejection};
use semel_model::TaskResultStatus;
use semel_runtime::{Answer, Failure, HandedOut};

use crate::network::{Call, Request};
use crate::sim::Sim;
use crate::workers::{Job, Purpose, State, Worker};

impl Sim {
    /// One answer reaches its client, or is lost on the way.
    pub(crate) fn hear(&mut self, faulty: bool) -> Result<(), String> {
        let chance = &mut self.chance;
        let Some((call, answer)) = self.answers.take(|len| chance.below(len)) else {
            return Ok(());
        };
        if faulty && self.chance.once_in(15) {
            self.faults += 1;
            self.note(format_args!("answer to call {call} is lost"));
            return Ok(());
        }
        if matches!(answer, Err(Failure::Unavailable | Failure::Busy)) {
            return Ok(()); // The sender's patience runs out and it asks again.
        }
        let told = self.calls.remove(&call);
        self.note(format_args!("call {call} hears {}", said(&answer)));
        if let Some(starter) = self.starters.iter_mut().find(|one| one.call == Some(call)) {
            starter.call = None;
            if let Ok(Answer::Started { id, .. }) = answer {
                starter.started = Some(id);
                self.history.started.entry(starter.key.clone()).or_default().insert(id);
            }
            return Ok(());
        }
        let terminated = told.and_then(|pending| match pending.request {
            Request::Event { execution, event, .. }
                if matches!(*event, Event::Terminated { .. }) =>
            {
                Some(execution)
            }
            _ => None,
        });
        if let (Some(id), Ok(_)) = (terminated, &answer) {
            self.history.terminated.insert(id);
        }
        self.tell_worker(call, answer)
    }

    fn tell_worker(&mut self, call: Call, answer: Result<Answer, Failure>) -> Result<(), String> {
        let mine = |worker: &Worker| matches!(&worker.state, State::Calling(c, _) if *c == call);
        let Some(at) = self.workers.iter().position(mine) else { return Ok(()) };
        let state = std::mem::replace(&mut self.workers[at].state, State::Idle);
        let State::Calling(_, purpose) = state else { return Ok(()) };
        match (purpose, answer) {
            (Purpose::Poll, Ok(Answer::Claimed(outs))) => {
                if let Some(out) = outs.first() {
                    self.begin_job(at, out)?;
                }
            }
            (Purpose::Report(said), Ok(Answer::Done { next, .. })) => {
                self.history.accepted(&said)?;
                if let Some(out) = next {
                    self.begin_job(at, &out)?;
                } else if said.status == TaskResultStatus::InProgress && self.chance.once_in(2) {
                    // It gave the task back, and goes on with it all the same.
                    let until = self.step + self.chance.below(400) as u64;
                    self.workers[at].state = State::Working(said.job, until);
                }
            }
            (Purpose::Report(..), Err(Failure::Rejected(Rejection::Stale(_)))) => {}
            (Purpose::Renew(job, until), _) => {
                self.workers[at].state = State::Working(job, until);
            }
            (Purpose::Poll | Purpose::Report(..), other) => {
                let name = &self.workers[at].name;
                return Err(format!("worker {name} was told {}", said(&other)));
            }
        }
        Ok(())
    }

    /// Most jobs are quick; some outlast their lease by far.
    fn begin_job(&mut self, at: usize, out: &HandedOut) -> Result<(), String> {
        let row = &out.delivery;
        let token = row.hand_out.token.unwrap_or_default();
        self.history.handed_out(row.task, row.hand_out.fence, token)?;
        let length = if self.chance.once_in(8) { 700 } else { 10 };
        let until = self.step + self.chance.below(length) as u64;
        self.workers[at].state = State::Working(Job::of(out), until);
        Ok(())
    }
}

fn said(answer: &Result<Answer, Failure>) -> String {
    match answer {
        Ok(Answer::Started { id, created, .. }) => format!("started {id} {created}"),
        Ok(Answer::Done { standing, task, next, .. }) => {
            format!(
                "done {standing:?} {task:?} next {:?}",
                next.as_ref().map(|out| out.delivery.task)
            )
        }
        Ok(Answer::Claimed(outs)) => {
            format!("claimed {:?}", outs.iter().map(|out| out.delivery.task).collect::<Vec<_>>())
        }
        Ok(Answer::Renewed { .. }) => "renewed".to_owned(),
        Ok(Answer::Skipped { id }) => format!("skipped for {id}"),
        Ok(Answer::Coalesced { id }) => format!("taken in by {id}"),
        Ok(Answer::Ruled(ruled)) => format!("ruled {}", ruled.name()),
        Ok(Answer::NotHeld) => "not held".to_owned(),
        Ok(Answer::Noted) => "noted".to_owned(),
        Ok(Answer::Edited(_)) => "edited".to_owned(),
        Ok(Answer::Settled(_)) => "settled".to_owned(),
        Err(failure) => failure.to_string(),
    }
}
