//! # Indexed: what the index knows of itself, for whoever fills it

use semel_engine::{Head, Link};
use semel_model::{Digest, WorkflowStatus};

use super::samples::{self, execution};
use super::search::{ALL, put, put_runs, run, said, words};
use super::{Desk, Fixture};
use crate::{Batch, Indexed, RunRow, Stretch};

/// A row of that moment, with these entries.
fn brings(seq: u64, stretches: &[(u64, u64)]) -> RunRow {
    let brings = stretches.iter().map(|(after, to)| Stretch { after: *after, to: *to }).collect();
    RunRow { seq, brings, ..run(1) }
}

pub fn a_run_of_which_entries_were_lost_is_not_whole(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let indexed = || {
        let all = desk.store().index().indexed(None, ALL).expect("readable");
        let (_, of_run) = all.first().expect("it is indexed");
        (of_run.seq, of_run.is_whole)
    };
    put_runs(&desk, [brings(4, &[(0, 4)])]);
    assert_eq!(indexed(), (4, true));
    put_runs(&desk, [brings(6, &[(4, 6)])]);
    assert_eq!(indexed(), (6, true));
    put_runs(&desk, [brings(8, &[(7, 8)])]);
    assert_eq!(indexed(), (8, false), "what it shows is of now; its tasks may not be");
    put_runs(&desk, [brings(9, &[(8, 9)])]);
    assert_eq!(indexed(), (9, false));
    put_runs(&desk, [brings(9, &[(0, 9)])]);
    assert_eq!(indexed(), (9, true));
    put_runs(&desk, [brings(10, &[(9, 10)])]);
    assert_eq!(indexed(), (10, true));
    put(&desk, &Batch { removed: vec![execution(1)], ..Batch::default() });
    put_runs(&desk, [brings(11, &[(10, 11)])]);
    assert_eq!(indexed(), (11, false), "nothing is left of what was brought before");
}

pub fn entries_that_are_brought_together_count_each(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let is_whole = || desk.store().index().indexed(None, ALL).expect("readable")[0].1.is_whole;
    put_runs(&desk, [brings(7, &[(0, 3), (3, 5), (6, 7)])]);
    assert!(!is_whole());
    put_runs(&desk, [brings(7, &[(5, 6), (6, 7)])]);
    assert!(is_whole());
    put_runs(&desk, [brings(7, &[])]);
    assert!(is_whole(), "what was brought stays so");
}

pub fn runs_without_words_are_known(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let wordless = |max| desk.store().index().wordless(max).expect("readable");
    put_runs(&desk, [run(1), run(2), run(3)]);
    assert_eq!(wordless(2), [1, 2].map(execution));
    let words = [1, 3].map(|number| words(number, 1, "words")).into();
    put(&desk, &Batch { words, ..Batch::default() });
    assert_eq!(wordless(9), [execution(2)]);
    put_runs(
        &desk,
        [RunRow { has_new_words: false, seq: 2, ..run(1) }, RunRow { seq: 2, ..run(3) }],
    );
    assert_eq!(wordless(9), [2, 3].map(execution));
}

/// Whoever read the run before its end may write what it read after it.
pub fn words_of_an_earlier_moment_than_the_row_are_not_taken(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let wordless = || desk.store().index().wordless(9).expect("readable");
    let say = |seq, text: &str| {
        put(&desk, &Batch { words: vec![words(1, seq, text)], ..Batch::default() });
    };
    put_runs(&desk, [run(1)]);
    say(1, "input");
    put_runs(&desk, [RunRow { seq: 2, ..run(1) }]);
    assert_eq!(wordless(), [execution(1)]);
    say(1, "input");
    assert_eq!(wordless(), [execution(1)], "its words are not known yet");
    say(2, "input and output");
    assert_eq!((wordless(), said(&desk, "and output").0), (vec![], vec![execution(1)]));
    say(1, "input");
    assert_eq!((wordless(), said(&desk, "and output").0), (vec![], vec![execution(1)]));
    say(3, "output later");
    assert_eq!(said(&desk, "later").0, [execution(1)]);
}

pub fn what_is_indexed_is_walked_by_id(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let brings = vec![Stretch { after: 0, to: 1 << 40 }];
    let paused = RunRow { status: WorkflowStatus::Paused, seq: 1 << 40, brings, ..run(2) };
    let over = RunRow { status: WorkflowStatus::Terminated, ..run(3) };
    put_runs(&desk, [over, run(1), paused]);
    let indexed = |after, max| desk.store().index().indexed(after, max).expect("readable");
    let [one, two, three] = [(1, true), (1 << 40, true), (1, false)]
        .map(|(seq, is_live)| Indexed { seq, is_whole: true, is_live });
    let all = [(execution(1), one), (execution(2), two), (execution(3), three)];
    assert_eq!(indexed(None, ALL), all);
    assert_eq!(indexed(Some(execution(1)), 1), all[1..2]);
    assert_eq!(indexed(Some(execution(3)), 1), []);
}

pub fn ends_of_journals_are_walked_by_id(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let at = |number: u8, seq| {
        let link = Link { seq, digest: Digest::of(&[number]) };
        Head { link, ..samples::head(number) }
    };
    desk.commit(samples::put_heads([at(3, 7), at(1, 1 << 40), at(2, 5)]));
    let ends = |after, max| desk.store().ends_of_journals(after, max).expect("readable");
    let all = [(execution(1), 1 << 40), (execution(2), 5), (execution(3), 7)];
    assert_eq!(ends(None, ALL), all);
    assert_eq!(ends(Some(execution(1)), 1), all[1..2]);
    assert_eq!(ends(Some(execution(3)), ALL), []);
}
