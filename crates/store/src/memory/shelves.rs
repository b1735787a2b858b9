//! # Walking: the shelves of the memory store

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Bound;

use super::tables::Tables;
use crate::rows::{DocumentKey, LogLine, Place};
use crate::shelf::{After, Item, Noted, Page};

impl Tables {
    pub(super) fn walk(&self, after: &After, page: Page) -> Vec<Item> {
        match after {
            After::Given(after) => {
                let rows = self.given.range((bound(after.as_ref()), Bound::Unbounded));
                taken(page, rows.map(|(execution, digest)| Item::Given(*execution, *digest)))
            }
            After::Pinned(after) => {
                let rows = beyond(&self.pinned, after.as_ref());
                taken(page, rows.map(|(digest, body)| Item::Pinned(*digest, body.clone())))
            }
            After::Journal(after) => {
                let rows = beyond(&self.journal, after.as_ref());
                taken(page, rows.map(|((id, seq), body)| Item::Entry(*id, *seq, body.clone())))
            }
            After::Executions(after) => {
                let rows = beyond(&self.heads, after.as_ref());
                taken(page, rows.map(|(_, head)| Item::Head(Box::new(head.clone()))))
            }
            After::Deliveries(after) => {
                let rows = beyond(&self.deliveries, after.as_ref());
                taken(page, rows.map(|(_, row)| Item::Delivery(Box::new(row.clone()))))
            }
            After::Messages(after) => {
                let rows = beyond(&self.messages, after.as_ref());
                taken(page, rows.map(|(_, row)| Item::Message(Box::new(row.clone()))))
            }
            After::Records(after) => {
                let rows = beyond(&self.records, after.as_ref());
                taken(page, rows.map(|(key, row)| Item::Record(key.clone(), Box::new(row.clone()))))
            }
            After::Limits(after) => {
                let rows = beyond(&self.limits, after.as_ref());
                taken(page, rows.map(|(name, used)| Item::Limit(name.clone(), used.clone())))
            }
            After::Documents(after) => self.walk_documents(after.as_ref(), page),
            After::Logs(after) => self.walk_logs(*after, page),
        }
    }

    /// By the names of their kinds.
    fn walk_documents(&self, after: Option<&DocumentKey>, page: Page) -> Vec<Item> {
        let place = |key: &DocumentKey| (key.kind.as_str(), key.name.clone(), key.version);
        let mut rows: Vec<_> = self.documents.iter().map(|row| (place(row.0), row)).collect();
        rows.retain(|(at, _)| after.is_none_or(|after| *at > place(after)));
        rows.sort_unstable();
        let rows = rows.into_iter();
        taken(page, rows.map(|(_, (key, body))| Item::Document(key.clone(), body.clone())))
    }

    fn walk_logs(&self, after: Option<(Place, Noted)>, page: Page) -> Vec<Item> {
        let noted = |at: usize| [0, 0, 0, 0, i64::try_from(at).unwrap_or(i64::MAX)];
        let lines = self.logs.values().flat_map(|lines| lines.iter().enumerate());
        let lines = lines.map(|(at, line)| (noted(at), line));
        let is_beyond = |(noted, line): &(Noted, &LogLine)| {
            after.is_none_or(|after| (line.place, *noted) > after)
        };
        taken(page, lines.filter(is_beyond).map(|(noted, line)| Item::Line(noted, line.clone())))
    }
}

fn beyond<'a, K: Ord, V>(
    table: &'a BTreeMap<K, V>,
    after: Option<&K>,
) -> impl Iterator<Item = (&'a K, &'a V)> {
    table.range((bound(after), Bound::Unbounded))
}

fn bound<K>(after: Option<&K>) -> Bound<&K> {
    after.map_or(Bound::Unbounded, Bound::Excluded)
}

fn taken(page: Page, rows: impl Iterator<Item = Item>) -> Vec<Item> {
    let Ok(rows) = page.fill(rows.map(Ok::<_, Infallible>));
    rows
}
