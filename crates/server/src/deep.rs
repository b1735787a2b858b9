//! # A deep look: every page and every journal is read
//!
//! Takes as long as reading the data does. **May not:** change anything; a server may be running on
//! the directory.

use semel_store_sqlite::{Deep, read_all};

use crate::checkup::Finding;
use crate::config::{Config, Store};

const REMEDY: &str = "stop the server, keep a copy of the directory, and restore the last backup; \
                      look at the disk before it is used again";

/// `told` hears how many journal entries were read.
pub fn check_deeply(config: &Config, told: &mut dyn FnMut(u64)) -> Vec<Finding> {
    match &config.store {
        Store::Memory => vec![Finding::ok("pages", "the store is memory: there are no pages")],
        Store::Postgres(_) => {
            let says = "the pages of PostgreSQL are its own to check";
            vec![Finding::warn("pages", says, "use pg_amcheck, and checksums (pg_checksums)")]
        }
        Store::Sqlite => match read_all(&config.data, told) {
            Ok(Some(deep)) => findings(deep),
            Ok(None) => vec![Finding::ok("pages", "there is no database yet")],
            Err(error) => vec![Finding::fail("pages", error.to_string(), REMEDY)],
        },
    }
}

fn findings(deep: Deep) -> Vec<Finding> {
    let Deep { database, journals, index } = deep;
    let pages = match database {
        Ok(()) => Finding::ok("pages", "every page of semel.db was read and fits"),
        Err(words) => Finding::fail("pages", format!("semel.db is damaged: {words}"), REMEDY),
    };
    let journals = match journals {
        Ok(counts) => {
            let (runs, entries) = (counts.executions, counts.entries);
            Finding::ok("journals", format!("{entries} entries of {runs} runs are unbroken"))
        }
        Err(words) => Finding::fail("journals", words, REMEDY),
    };
    let index = index.map(|index| match index {
        Ok(()) => Finding::ok("index pages", "every page of semel-index.db was read and fits"),
        Err(words) => {
            let says = format!("semel-index.db is damaged: {words}");
            let remedy = "stop the server and remove semel-index.db: it is written anew";
            Finding::warn("index pages", says, remedy)
        }
    });
    [pages, journals].into_iter().chain(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkup::Level;

    #[test]
    fn what_is_broken_is_a_failure_and_an_index_can_be_made_again() {
        let whole = Deep { database: Ok(()), journals: Ok(Default::default()), index: None };
        assert!(findings(whole.clone()).iter().all(|finding| finding.level == Level::Ok));
        let words = || Err("page 3 is never used".to_owned());
        let levels = |deep| findings(deep).into_iter().map(|finding| finding.level).max();
        assert_eq!(levels(Deep { database: words(), ..whole.clone() }), Some(Level::Fail));
        assert_eq!(levels(Deep { index: Some(words()), ..whole }), Some(Level::Warn));
    }
}
