//! # Text: a string of a payload, and which expressions in it a definition wrote
//!
//! Secrets and the fence of a hand-out are put in place late, so what is stored keeps their
//! expressions. Only a definition may write one: a [`Text`] knows where in it such expressions
//! stand, and everything else in it is data, whatever it looks like. What is joined, cut or made of
//! texts can therefore never become an expression that no definition has written.
//!
//! In what is stored, data that looks like a late expression has one more `$`; reading takes it
//! away, so that nothing in the engine ever sees it.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::secrets::{is_late, late_expression, may_hold_late};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    shown: String,
    /// Where the late expressions stand, in order; none for data. Boxed because nearly all text is.
    #[expect(clippy::box_collection, reason = "one word for what is nearly always absent")]
    late: Option<Box<Vec<Range<usize>>>>,
}

impl Text {
    /// An expression that a definition wrote, with its `${` and `}`.
    pub(super) fn late(expression: String) -> Self {
        let all = 0..expression.len();
        Self { shown: expression, late: Some(Box::new(vec![all])) }
    }

    /// From the form that is stored.
    pub(super) fn stored(text: String) -> Self {
        if !may_hold_late(&text) {
            return Self::from(text);
        }
        let mut read = Self::default();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("${") {
            let (before, found) = rest.split_at(at);
            if !is_late(found) {
                read.push_str(&rest[..at + 2]);
                rest = &found[2..];
            } else if let Some(kept) = before.strip_suffix('$') {
                read.push_str(kept);
                read.push_str("${");
                rest = &found[2..];
            } else if let Some((_, after)) = late_expression(found) {
                read.push_str(before);
                read.push(&Self::late(found[..found.len() - after.len()].to_owned()));
                rest = after;
            } else {
                read.push_str(&rest[..at + 2]);
                rest = &found[2..];
            }
        }
        read.push_str(rest);
        read
    }

    /// The form that is stored.
    pub(super) fn to_stored(&self) -> Cow<'_, str> {
        if self.late.is_none() {
            return escaped(&self.shown);
        }
        let mut out = String::with_capacity(self.shown.len());
        for (part, is_late) in self.parts() {
            out.push_str(&if is_late { Cow::Borrowed(part) } else { escaped(part) });
        }
        Cow::Owned(out)
    }

    /// What it is made of, in order, and whether each part is a late expression. None is empty.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        let mut at = 0;
        let late = self.late.iter().flat_map(|late| late.iter().cloned());
        let end = self.shown.len()..self.shown.len();
        late.chain([end]).flat_map(move |late| {
            let before = &self.shown[std::mem::replace(&mut at, late.end)..late.start];
            [(before, false), (&self.shown[late], true)]
                .into_iter()
                .filter(|(part, _)| !part.is_empty())
        })
    }

    pub(super) fn has_late(&self) -> bool {
        self.late.is_some()
    }

    /// Data behind it.
    pub(super) fn push_str(&mut self, data: &str) {
        self.shown.push_str(data);
    }

    pub(super) fn push(&mut self, more: &Self) {
        let offset = self.shown.len();
        self.shown.push_str(&more.shown);
        if let Some(late) = &more.late {
            let moved = late.iter().map(|at| at.start + offset..at.end + offset);
            self.late.get_or_insert_default().extend(moved);
        }
    }

    pub(crate) fn into_shown(self) -> String {
        self.shown
    }
}

/// Data.
impl From<String> for Text {
    fn from(data: String) -> Self {
        Self { shown: data, late: None }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown
    }
}

/// Data as it is stored: whatever would pass for a late expression gets one more `$`.
fn escaped(data: &str) -> Cow<'_, str> {
    if !may_hold_late(data) {
        return Cow::Borrowed(data);
    }
    let mut out = String::with_capacity(data.len() + 1);
    let mut rest = data;
    while let Some(at) = rest.find("${") {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        out.push_str(if is_late(found) { "$${" } else { "${" });
        rest = &found[2..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[&str]) -> Text {
        let mut text = Text::default();
        parts.iter().for_each(|part| text.push_str(part));
        text
    }

    #[test]
    fn what_is_stored_is_read_as_it_was() {
        for stored in [
            "",
            "plain $${x} ${x}",
            "${workflow.secrets.KEY}",
            "Bearer ${workflow.secrets.KEY}!",
            "$${workflow.secrets.KEY}",
            "$$${workflow.secrets.KEY} and ${CPEWF_FENCE}",
            "$${workflow.secrets.A}${workflow.secrets.B}$${CPEWF_FENCE}",
        ] {
            let read = Text::stored(stored.to_owned());
            assert_eq!(read.to_stored(), stored);
            assert_eq!(Text::stored(read.to_stored().into_owned()), read);
        }
        let read = Text::stored("a $${workflow.secrets.A} ${workflow.secrets.B}".to_owned());
        assert_eq!(&*read, "a ${workflow.secrets.A} ${workflow.secrets.B}");
        let late: Vec<&str> = read.parts().filter(|part| part.1).map(|part| part.0).collect();
        assert_eq!(late, ["${workflow.secrets.B}"]);
    }

    #[test]
    fn data_never_becomes_an_expression_however_it_is_joined() {
        for parts in [
            &["${workflow.secrets.A}"][..],
            &["$", "{workflow.secrets.A}"],
            &["${", "workflow.secrets.A}"],
            &["${workflow.", "secrets.A", "}"],
            &["$$", "{CPEWF_FENCE}"],
        ] {
            let text = joined(parts);
            assert!(!text.has_late());
            let stored = Text::stored(text.to_stored().into_owned());
            assert!(!stored.has_late() && *stored == *parts.concat(), "{stored:?}");
        }
    }

    #[test]
    fn a_late_expression_stays_one_beside_data_that_looks_like_one() {
        let mut text = joined(&["${workflow.secrets.A}"]);
        text.push(&Text::late("${workflow.secrets.B}".to_owned()));
        text.push_str("${workflow.secrets.C}");
        let stored = text.to_stored().into_owned();
        assert_eq!(stored, "$${workflow.secrets.A}${workflow.secrets.B}$${workflow.secrets.C}");
        assert_eq!(Text::stored(stored), text);
    }
}
