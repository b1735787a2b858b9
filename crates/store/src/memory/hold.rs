//! # Holding: a lane takes its rows
//!
//! Each unless another lane has it; that one is skipped, not waited for.

use std::convert::Infallible;

use semel_engine::Delivery;
use semel_model::Timestamp;

use super::{Plant, Shared};
use crate::rows::{Held, LimitRow, Place, Row, Touches};

pub(super) fn hold(shared: &mut Shared, lane: u16, touches: &Touches, now: Timestamp) -> Held {
    let held = Held { now, ..Held::default() };
    let mut taking = Taking { shared, lane, held };
    taking.take_heads_and_records(touches);
    taking.take_deliveries(touches);
    taking.take_messages(touches);
    taking.take_waiters(touches);
    taking.take_documents(touches);
    taking.held
}

/// One hold under way.
struct Taking<'a> {
    shared: &'a mut Shared,
    lane: u16,
    held: Held,
}

impl Taking<'_> {
    fn take(&mut self, row: Row) -> bool {
        let unheld =
            matches!(row, Row::Record(_)) && self.shared.plants.contains(&Plant::RecordsNotHeld);
        match self.shared.held.get(&row) {
            Some(holder) if *holder != self.lane && !unheld => {
                self.held.skipped.insert(row);
                false
            }
            _ => {
                self.shared.held.insert(row, self.lane);
                true
            }
        }
    }

    fn take_delivery(&mut self, place: Place) -> bool {
        let taken = self.take(Row::Delivery(place));
        if taken {
            let row = self.shared.live.deliveries.get(&place).cloned();
            self.held.deliveries.insert(place, row);
        }
        taken
    }

    fn take_messages(&mut self, touches: &Touches) {
        for key in &touches.messages {
            if self.take(Row::Message(*key)) {
                let found = self.shared.live.messages.get(key).cloned();
                self.held.messages.insert(*key, found);
            }
        }
    }

    /// A line goes with its record: who does not have that may neither let anybody go nor keep the
    /// line from who has.
    fn take_waiters(&mut self, touches: &Touches) {
        for (record, count) in &touches.waiters {
            if !self.held.records.contains_key(record) {
                continue;
            }
            let waiting = self.shared.live.waiters(record);
            let waiting = waiting.into_iter().filter(|key| self.take(Row::Message(*key)));
            let waiting: Vec<_> = waiting.take(*count).collect();
            for key in &waiting {
                let found = self.shared.live.messages.get(key).cloned();
                self.held.messages.insert(*key, found);
            }
            self.held.waiters.insert(record.clone(), waiting);
        }
    }

    fn take_documents(&mut self, touches: &Touches) {
        for key in &touches.documents {
            if self.take(Row::Document(key.clone())) {
                let found = self.shared.live.documents.get(key).cloned();
                self.held.documents.insert(key.clone(), found);
            }
        }
    }

    fn take_heads_and_records(&mut self, touches: &Touches) {
        for id in &touches.heads {
            if self.take(Row::Head(*id)) {
                self.held.heads.insert(*id, self.shared.live.heads.get(id).cloned());
            }
        }
        for name in &touches.limits {
            if self.take(Row::Limit(name.clone())) {
                let window = self.shared.live.limits.get(name).cloned().unwrap_or_default();
                let in_flight = self.shared.mirror.in_flight(name);
                self.held.limits.insert(name.clone(), LimitRow { window, in_flight });
            }
        }
        for key in &touches.records {
            if self.take(Row::Record(key.clone())) {
                let found = self.shared.live.records.get(key).cloned();
                self.held.records.insert(key.clone(), found);
            }
        }
    }

    fn take_deliveries(&mut self, touches: &Touches) {
        for place in &touches.deliveries {
            self.take_delivery(*place);
        }
        for id in &touches.all_deliveries {
            for place in self.shared.mirror.of_execution(*id) {
                self.take_delivery(place);
            }
        }
        for token in &touches.tokens {
            if touches.polls.contains(token) && !self.take(Row::Poll(*token)) {
                continue;
            }
            let places = self.shared.mirror.by_token(token);
            let taken = places.iter().filter(|at| self.take_delivery(**at)).count();
            if taken == places.len() {
                self.held.by_token.insert(*token, places);
            }
        }
        for (queue, count) in &touches.wanted {
            let (shared, lane, now) = (&mut *self.shared, self.lane, self.held.now);
            let held = &shared.held;
            let busy = |at: &Place| held.get(&Row::Delivery(*at)).is_some_and(|by| *by != lane);
            let passed_over = touches.passed_over(queue);
            let places = shared.mirror.ready(queue, now, *count, passed_over, busy);
            let take = |place| {
                self.take_delivery(place);
                let row = self.held.deliveries.get(&place).and_then(Option::as_ref);
                Ok::<_, Infallible>(row.map_or(0, Delivery::payload_bytes))
            };
            let Ok((places, is_all)) = touches.fill(places, take);
            if !is_all {
                self.held.cut.insert(queue.clone());
            }
            self.held.ready.insert(queue.clone(), places);
        }
    }
}
