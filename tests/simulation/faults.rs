//! # Faults: what goes wrong, and how often

use semel_engine::Event;
use semel_model::ExecutionId;
use semel_store::CommitFault;

use crate::network::{Call, Request};
use crate::sim::Sim;
use crate::workers::State;

impl Sim {
    pub(crate) fn perhaps_fault(&mut self) {
        if !self.chance.once_in(25) {
            return;
        }
        self.faults += 1;
        match self.chance.below(8) {
            0 => {
                self.note("crash");
                self.cluster.crash();
            }
            1 => {
                let lost = self.chance.once_in(2);
                let fault = if lost { CommitFault::LostBefore } else { CommitFault::LostAfter };
                self.note(format_args!("{fault:?}"));
                self.cluster.store.fail_next_commit(fault);
            }
            2 => {
                let jump = 500 + 250 * i64::try_from(self.chance.below(80)).unwrap_or(0);
                self.note(format_args!("clock +{jump} ms"));
                self.cluster.clock.advance_ms(jump);
            }
            3 => self.double(),
            4 => self.drop_answer(),
            5 => self.kill_worker(),
            6 => self.operate(),
            _ => self.restart_node(),
        }
    }

    fn restart_node(&mut self) {
        let at = self.chance.below(self.cluster.nodes.len());
        self.note(format_args!("node {at} restarts"));
        self.cluster.restart(at);
    }

    fn double(&mut self) {
        let calls: Vec<Call> = self.calls.keys().copied().collect();
        if let Some(call) = calls.get(self.chance.below(calls.len())) {
            self.note(format_args!("call {call} is delivered twice"));
            let request = self.calls[call].request.clone();
            self.deliver(*call, &request);
        }
    }

    fn drop_answer(&mut self) {
        let chance = &mut self.chance;
        if let Some((call, _)) = self.answers.take(|len| chance.below(len)) {
            self.note(format_args!("answer to call {call} is lost"));
        }
    }

    /// A worker forgets everything; another of the same kind takes its place.
    fn kill_worker(&mut self) {
        let at = self.chance.below(self.workers.len());
        self.note(format_args!("worker {at} dies"));
        let worker = &mut self.workers[at];
        worker.state = State::Idle;
        worker.name.push('\'');
    }

    fn operate(&mut self) {
        let ids: Vec<ExecutionId> = self.starters.iter().filter_map(|one| one.started).collect();
        let Some(id) = ids.get(self.chance.below(ids.len())).copied() else { return };
        let event = match self.chance.below(9) {
            0 => Event::Terminated { reason: Some("sim".to_owned()), compensate: false },
            1..=3 => Event::Paused,
            _ => Event::Resumed,
        };
        self.note(format_args!("{event:?} of {id}"));
        let event = Box::new(event);
        self.send(Request::Event { execution: id, event, payload: None, next: None });
    }
}
