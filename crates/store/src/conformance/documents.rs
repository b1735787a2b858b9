//! # Documents: named, versioned, and a number that says when to look again

use super::samples::UNICODE;
use super::{Desk, Fixture};
use crate::{DocumentKey, Kind, Touches, Writes};

fn key(kind: Kind, name: &str, version: i32) -> DocumentKey {
    DocumentKey { kind, name: name.to_owned(), version }
}

fn workflow(name: &str, version: i32) -> DocumentKey {
    key(Kind::WorkflowDefinition, name, version)
}

fn put(key: DocumentKey, body: &[u8]) -> Writes {
    Writes { documents: [(key, Some(body.to_vec()))].into(), ..Writes::default() }
}

fn listed(desk: &Desk<'_>, kind: Kind, name: Option<&str>) -> Vec<(String, i32)> {
    let found = desk.store().documents(kind, name).expect("readable");
    for (key, body) in &found {
        assert_eq!(key.kind, kind);
        assert_eq!(desk.store().document(key).expect("readable").as_ref(), Some(body));
    }
    found.into_iter().map(|(key, _)| (key.name, key.version)).collect()
}

pub fn documents_are_listed_by_name_and_version(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    for (name, version) in [("b", 1), ("a", 10), ("a", 9), ("B", 1), ("ab", -1), ("é", 1)] {
        desk.commit(put(workflow(name, version), name.as_bytes()));
    }
    desk.commit(put(key(Kind::TaskDefinition, "a", 0), b"task"));
    let owned = |list: &[(&str, i32)]| -> Vec<(String, i32)> {
        list.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect()
    };
    for _ in 0..2 {
        assert_eq!(
            listed(&desk, Kind::WorkflowDefinition, None),
            owned(&[("B", 1), ("a", 9), ("a", 10), ("ab", -1), ("b", 1), ("é", 1)])
        );
        assert_eq!(
            listed(&desk, Kind::WorkflowDefinition, Some("a")),
            owned(&[("a", 9), ("a", 10)])
        );
        assert_eq!(listed(&desk, Kind::TaskDefinition, None), owned(&[("a", 0)]));
        assert_eq!(listed(&desk, Kind::TaskDefinition, Some("b")), owned(&[]));
        desk.crash();
    }
}

pub fn a_document_is_replaced_and_deleted(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let one = workflow("a", 1);
    let touches = Touches { documents: [one.clone()].into(), ..Touches::default() };
    desk.commit(put(one.clone(), b"first"));
    desk.commit(put(one.clone(), b"second"));
    assert_eq!(desk.look(&touches).documents[&one].as_deref(), Some(b"second".as_slice()));
    desk.commit(Writes { documents: [(one.clone(), None)].into(), ..Writes::default() });
    desk.crash();
    assert_eq!(desk.look(&touches).documents[&one], None);
    assert_eq!(desk.store().document(&one).expect("readable"), None);
    assert_eq!(listed(&desk, Kind::WorkflowDefinition, None), []);
}

pub fn the_generation_grows_with_every_commit_that_writes_a_document(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let one = workflow("a", 1);
    let generation = |desk: &Desk<'_>| desk.store().documents_generation().expect("readable");
    let mut last = generation(&desk);
    desk.commit(Writes::default());
    assert_eq!(generation(&desk), last, "no document was written");
    for body in [Some(b"first".to_vec()), Some(b"second".to_vec()), None] {
        desk.commit(Writes { documents: [(one.clone(), body)].into(), ..Writes::default() });
        assert!(generation(&desk) > last);
        last = generation(&desk);
    }
    desk.crash();
    assert!(generation(&desk) >= last);
    desk.commit(put(one, b"third"));
    assert!(generation(&desk) > last);
}

pub fn empty_and_unicode_documents_are_kept(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (empty, odd) = (workflow("", i32::MAX), workflow(UNICODE, i32::MIN));
    desk.commit(put(empty.clone(), b""));
    desk.commit(put(odd.clone(), &[0, 255, 128]));
    desk.crash();
    assert_eq!(desk.store().document(&empty).expect("readable"), Some(vec![]));
    assert_eq!(desk.store().document(&odd).expect("readable"), Some(vec![0, 255, 128]));
}
