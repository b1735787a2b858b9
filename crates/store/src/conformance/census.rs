//! # The census: what is there, counted as it is

use std::collections::BTreeMap;

use semel_engine::Head;

use super::samples::{self, BEGIN};
use super::{Desk, Fixture};
use crate::{Census, Writes};

fn named(number: u8, name: &str, version: i32) -> Head {
    Head { name: name.to_owned(), version, ..samples::head(number) }
}

fn census(desk: &Desk<'_>) -> Census {
    desk.store().census().expect("readable")
}

pub fn runs_are_counted_until_they_end(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert_eq!(census(&desk), Census::default());
    let heads = [named(1, "a", 1), named(2, "a", 1), named(3, "a", 2), named(4, "b", 1)];
    desk.commit(samples::put_heads(heads));
    let live = |counts: &[(&str, i32, u64)]| -> BTreeMap<(String, i32), u64> {
        counts.iter().map(|(name, version, n)| (((*name).to_owned(), *version), *n)).collect()
    };
    assert_eq!(census(&desk).live, live(&[("a", 1, 2), ("a", 2, 1), ("b", 1, 1)]));
    desk.commit(samples::put_heads([Head { ended_at: BEGIN, ..named(2, "a", 1) }]));
    let removed = [samples::execution(4)].into();
    desk.commit(Writes { removed, ..Writes::default() });
    for _ in 0..2 {
        assert_eq!(census(&desk).live, live(&[("a", 1, 1), ("a", 2, 1)]));
        desk.crash();
    }
}

pub fn open_descendants_are_counted_by_their_root(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let root = samples::execution(9);
    let below = |number: u8, root| Head { root: Some(root), ..samples::head(number) };
    let heads = [below(1, root), below(2, root), below(3, samples::execution(8)), below(4, root)];
    desk.commit(samples::put_heads(heads));
    desk.commit(samples::put_heads([samples::head(9), samples::head(5)]));
    let count = |desk: &Desk<'_>, max| desk.store().open_descendants(root, max).expect("readable");
    assert_eq!((count(&desk, 10), count(&desk, 2)), (3, 2));
    desk.commit(samples::put_heads([Head { ended_at: BEGIN, ..below(1, root) }]));
    let removed = [samples::execution(2)].into();
    desk.commit(Writes { removed, ..Writes::default() });
    for _ in 0..2 {
        assert_eq!(count(&desk, 10), 1);
        desk.crash();
    }
    desk.commit(samples::put_heads([below(1, root)]));
    assert_eq!(count(&desk, 10), 2, "it lives again");
}

pub fn parked_executions_and_held_tasks_are_counted(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let parked = Head { parked: Some("why".to_owned()), ..samples::head(1) };
    desk.commit(samples::put_heads([parked, samples::head(2)]));
    let held = samples::leased(samples::delivery(2, 1), BEGIN);
    desk.commit(samples::put_deliveries([held, samples::delivery(2, 2)]));
    for _ in 0..2 {
        let found = census(&desk);
        assert_eq!((found.parked, found.held), (1, [("work".to_owned(), 1)].into()));
        desk.crash();
    }
    desk.commit(samples::put_heads([samples::head(1)]));
    desk.commit(samples::drop_deliveries([samples::place(2, 1)]));
    let found = census(&desk);
    assert_eq!((found.parked, found.held), (0, BTreeMap::new()));
}
