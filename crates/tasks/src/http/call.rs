//! # Calls: one task, one request, one report

use std::sync::Arc;

use semel_engine::LEFT_TO_OTHERS_SECONDS;
use semel_http::{Identity, Outcome, Status, host};
use semel_model::{HttpClass, HttpRequest, TaskResultStatus};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval_at};

use super::places::Seat;
use super::{House, Phase, reached};
use crate::hand::{Hand, Said};

/// When a task is tried again whose secrets could not be looked up.
const SOON_SECONDS: i64 = 5;

/// When a task is tried again whose workflow has too much waiting already.
const LATER_SECONDS: i64 = 5;

/// A lease is renewed so many times before it would end.
const RENEWALS: u32 = 3;

pub(super) struct Call {
    pub(super) house: Arc<House>,
    pub(super) hand: Hand,
    pub(super) phase: watch::Receiver<Phase>,
}

/// How waiting ended.
enum Waited<T> {
    Came(T),
    /// The task is no longer ours: whatever comes back is nobody's.
    Lost,
    /// The server goes.
    Left,
}

impl Call {
    pub(super) async fn run(mut self, seat: Seat) {
        if *self.phase.borrow() > Phase::Working {
            return self.hand.give_back(0).await;
        }
        let input = match self.hand.input().await {
            Ok(input) => input,
            Err(failure) => {
                tracing::warn!(%failure, "the secrets of an HTTP task cannot be looked up");
                return self.hand.give_back(SOON_SECONDS).await;
            }
        };
        let row = &self.hand.task().delivery;
        let step = self.hand.task().definition.step(&row.reference);
        let hosts = self.house.runtime.world().key_hosts();
        let request = match HttpRequest::of_step_at(&input, step.task(), hosts) {
            Ok(request) => request,
            Err(why) => return self.report(Outcome::unsendable(why), false).await,
        };
        let is_left_open = request.is_completed_by_others || step.task().async_complete;
        let who = Identity { effect_key: row.effect_key(), fence: Some(row.hand_out.fence) };
        // What names no host is refused without being sent, and waits for nobody's.
        let host = host(&request.uri).unwrap_or_default();
        match self.wait(seat.granted(&host), Phase::Closing).await {
            Waited::Came(true) => {}
            Waited::Came(false) => return self.hand.give_back(LATER_SECONDS).await,
            Waited::Lost => return,
            Waited::Left => return self.hand.give_back(0).await, // Nothing was sent.
        }
        let house = Arc::clone(&self.house);
        match self.wait(house.client.send(&request, &who), Phase::Leaving).await {
            Waited::Came(outcome) => self.report(outcome, is_left_open).await,
            Waited::Lost => {}
            Waited::Left if request.class() == HttpClass::Unsafe => {
                self.report(Outcome::cut_off(&request), false).await;
            }
            Waited::Left => self.hand.give_back(0).await,
        }
    }

    /// The lease is renewed meanwhile; from that phase of the server on nobody waits.
    async fn wait<T>(&mut self, coming: impl Future<Output = T>, until: Phase) -> Waited<T> {
        tokio::pin!(coming);
        let every = self.hand.lease() / RENEWALS;
        let mut renewals = interval_at(tokio::time::Instant::now() + every, every);
        renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                came = &mut coming => return Waited::Came(came),
                () = reached(&mut self.phase, until) => return Waited::Left,
                _ = renewals.tick() => {
                    if !self.hand.renew().await {
                        return Waited::Lost;
                    }
                }
            }
        }
    }

    async fn report(&self, outcome: Outcome, is_left_open: bool) {
        let (status, callback_after_seconds) = match outcome.status {
            Status::Completed if is_left_open => {
                (TaskResultStatus::InProgress, LEFT_TO_OTHERS_SECONDS)
            }
            Status::Completed => (TaskResultStatus::Completed, 0),
            Status::Failed => (TaskResultStatus::Failed, 0),
            Status::FailedTerminal => (TaskResultStatus::FailedWithTerminalError, 0),
        };
        let Outcome { output, reason, .. } = outcome;
        self.hand.report(Said { status, output, reason, callback_after_seconds }).await;
    }
}
