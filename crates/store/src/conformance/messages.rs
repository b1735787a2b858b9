//! # Messages: told by one commit, heard by another, offered until then

use semel_engine::{Address, MessageKey, MessageRow, RecordKey, Wait};

use super::due::LONG_MS;
use super::samples::{self, UNICODE, execution, message, message_key};
use super::{Desk, Fixture};
use crate::{Due, Touches, Writes};

fn touch(keys: impl IntoIterator<Item = MessageKey>) -> Touches {
    Touches { messages: keys.into_iter().collect(), ..Touches::default() }
}

fn offered<'a>(rows: impl IntoIterator<Item = &'a MessageRow>) -> Due {
    let messages = rows.into_iter().map(|row| (row.key, row.to.clone())).collect();
    Due { messages, ..Due::default() }
}

pub fn a_message_is_read_as_it_was_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let key = MessageKey { from: execution(0xff), seq: 1 << 40, at: u32::MAX };
    let addresses = [
        Address::Execution(execution(0)),
        Address::Sink(String::new()),
        Address::Sink(UNICODE.to_owned()),
        Address::Execution(execution(0xff)),
    ];
    for to in addresses {
        for body in [vec![], vec![0, 159, 146, 150], vec![7; 1 << 20]] {
            let row = MessageRow { key, to: to.clone(), body, waits: None };
            desk.commit(samples::put_messages([row.clone()]));
            assert!(desk.look(&touch([key])).messages[&key].as_ref() == Some(&row), "{to:?}");
            desk.crash();
            assert!(desk.look(&touch([key])).messages[&key] == Some(row), "{to:?}");
        }
    }
}

pub fn messages_differ_by_sender_entry_and_place(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let keys = [(1, 1, 0), (1, 1, 1), (1, 2, 0), (2, 1, 0)];
    let rows = keys.map(|(from, seq, at)| MessageRow {
        body: format!("{from} {seq} {at}").into_bytes(),
        ..message(from, seq, at)
    });
    rows.iter().for_each(|row| {
        desk.commit(samples::put_messages([row.clone()]));
    });
    let absent = [message_key(2, 2, 0), message_key(1, 0, 1)];
    let held = desk.look(&touch(rows.iter().map(|row| row.key).chain(absent)));
    let present = rows.into_iter().map(|row| (row.key, Some(row)));
    assert_eq!(held.messages, present.chain(absent.map(|key| (key, None))).collect());
}

pub fn a_message_that_was_heard_is_gone(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (heard, kept) = (message(1, 1, 0), message(1, 1, 1));
    desk.commit(samples::put_messages([heard.clone(), kept.clone()]));
    for is_held in [true, false] {
        if is_held {
            desk.hold(&touch([heard.key]));
        }
        desk.commit(samples::drop_messages([heard.key]));
    }
    for _ in 0..2 {
        let held = desk.look(&touch([heard.key, kept.key]));
        assert_eq!(held.messages[&heard.key], None);
        assert_eq!(held.messages[&kept.key], Some(kept.clone()));
        desk.crash();
    }
}

pub fn a_new_message_is_left_to_its_writer_for_a_while(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let rows = [message(2, 1, 0), message(1, 9, 0)];
    desk.commit(samples::put_messages(rows.clone()));
    assert_eq!(desk.due(100), Due::default());
    let lease_ms = desk.writer().next_due().expect("known").since_ms(samples::BEGIN);
    assert!((1..=LONG_MS).contains(&lease_ms), "{lease_ms}");
    desk.advance_ms(lease_ms - 1);
    assert_eq!(desk.due(100), Due::default());
    desk.advance_ms(1);
    assert_eq!(desk.due(100), offered([&rows[1], &rows[0]]), "by key");
}

pub fn a_message_that_nobody_heard_is_offered_again(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let rows = [message(1, 1, 0), samples::publication(1, 1, 1)];
    desk.commit(samples::put_messages(rows.clone()));
    for _ in 0..3 {
        desk.advance_ms(LONG_MS);
        assert_eq!(desk.due(100), offered(&rows));
        assert_eq!(desk.due(100), Due::default(), "leased to whoever was told");
        assert!(desk.writer().next_due().expect("known") > desk.now());
    }
}

pub fn a_message_that_was_heard_is_never_due(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (first, second) = (message(1, 1, 0), message(1, 2, 0));
    desk.commit(samples::put_messages([first.clone(), second.clone()]));
    desk.commit(samples::drop_messages([first.key]));
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(100), offered([&second]));
    desk.commit(samples::drop_messages([second.key]));
    assert_eq!(desk.writer().next_due(), None);
    for _ in 0..2 {
        desk.advance_ms(LONG_MS);
        assert_eq!(desk.due(100), Due::default());
        desk.crash();
    }
}

pub fn after_a_crash_every_message_is_due_at_once(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (carried, fresh) = (message(1, 1, 0), samples::publication(1, 2, 0));
    desk.commit(samples::put_messages([carried.clone()]));
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(100), offered([&carried]));
    desk.commit(samples::put_messages([fresh.clone()]));
    for _ in 0..2 {
        desk.crash();
        let next = desk.writer().next_due();
        assert!(next.expect("known") <= desk.now(), "whoever carried them is gone");
        assert_eq!(desk.due(100), offered([&carried, &fresh]));
        assert_eq!(desk.due(100), Due::default());
    }
}

pub fn messages_count_among_what_is_due(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let rows: Vec<MessageRow> = (0..10).map(|seq| message(1, seq, 0)).collect();
    let heads = (1..=3).map(samples::full_head);
    let messages = samples::put_messages(rows.clone()).messages;
    desk.commit(Writes { messages, ..samples::put_heads(heads) });
    desk.advance_ms(LONG_MS);
    let mut found = Due::default();
    for _ in 0..5 {
        let due = desk.due(3);
        assert!(due.executions.len() + due.messages.len() <= 3);
        found.executions.extend(due.executions);
        found.messages.extend(due.messages);
    }
    assert_eq!(found.executions, [1, 2, 3].map(execution));
    assert_eq!(found.messages, offered(&rows).messages);
}

fn waiting(row: MessageRow, key: &str, since: u64) -> MessageRow {
    let on = RecordKey { scope: "lock:x".to_owned(), key: key.to_owned() };
    MessageRow { waits: Some(Wait { on, since }), ..row }
}

pub fn messages_that_wait_on_a_record_are_found_oldest_first(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (young, old) = (waiting(message(1, 1, 0), "k", 9), waiting(message(2, 1, 0), "k", 1 << 53));
    let (oldest, other) = (waiting(message(3, 1, 0), "k", 2), waiting(message(4, 1, 0), "K", 1));
    let rows = [young.clone(), old.clone(), oldest.clone(), other, message(5, 1, 0)];
    let key = oldest.waits.clone().expect("it waits").on;
    let records = [(key.clone(), Some(samples::record(1)))].into();
    desk.commit(Writes { records, ..samples::put_messages(rows) });
    for crashed in [false, true] {
        if crashed {
            desk.crash();
        }
        for (count, expected) in
            [(0, vec![]), (2, vec![&oldest, &young]), (9, vec![&oldest, &young, &old])]
        {
            let (waiters, records) = ([(key.clone(), count)].into(), [key.clone()].into());
            let held = desk.look(&Touches { waiters, records, ..Touches::default() });
            let keys: Vec<_> = expected.iter().map(|row| row.key).collect();
            assert_eq!(held.waiters, [(key.clone(), keys)].into());
            let rows = expected.into_iter().map(|row| (row.key, Some(row.clone())));
            assert_eq!(held.messages, rows.collect());
        }
        let waiters = [(key.clone(), 9)].into();
        let held = desk.look(&Touches { waiters, ..Touches::default() });
        assert_eq!(held.waiters, [].into(), "a line is not held without its record");
        assert_eq!(held.messages, [].into());
    }
}

pub fn a_message_that_waits_is_offered_when_it_is_let_go(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let row = waiting(message(1, 1, 0), "k", 1);
    desk.commit(samples::put_messages([row.clone()]));
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(9), Due::default());
    desk.crash();
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(9), Due::default(), "nor after a crash");
    let free = MessageRow { waits: None, ..row };
    desk.commit(samples::put_messages([free.clone()]));
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(9), offered([&free]));
}
