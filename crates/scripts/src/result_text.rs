//! # The text of a result: JSON written bit by bit, up to a limit
//!
//! Both languages write here, so a number, a text and a limit mean the same in both.

use semel_engine::{Verdict, json_number};
use semel_model::Payload;

use crate::budget::Budget;
use crate::reason;

/// A result as far as it is written.
pub(crate) struct ResultText<'a> {
    text: String,
    budget: &'a Budget,
}

impl<'a> ResultText<'a> {
    pub(crate) fn new(budget: &'a Budget) -> Self {
        Self { text: String::new(), budget }
    }

    /// Adds JSON as it stands.
    pub(crate) fn push(&mut self, json: &str) -> Result<(), Verdict> {
        if self.text.len() + json.len() > self.budget.result_bytes_max {
            return Err(reason::too_long_a_result(self.budget));
        }
        self.text.push_str(json);
        Ok(())
    }

    pub(crate) fn push_text(&mut self, text: &str) -> Result<(), Verdict> {
        // Quoted it is longer still; what is too long already is not worth quoting.
        if self.text.len() + text.len() > self.budget.result_bytes_max {
            return Err(reason::too_long_a_result(self.budget));
        }
        self.push(&serde_json::to_string(text).expect("every text has JSON"))
    }

    pub(crate) fn push_number(&mut self, number: f64) -> Result<(), Verdict> {
        self.push(&json_number(number))
    }

    pub(crate) fn finish(self) -> Payload {
        Payload::from_text(self.text).expect("only JSON was written")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: f64) -> String {
        let budget = Budget::default();
        let mut text = ResultText::new(&budget);
        text.push_number(number).unwrap();
        text.finish().text().to_owned()
    }

    #[test]
    fn whole_numbers_that_fit_are_integers() {
        for (given, expected) in [
            (3.0, "3"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e18, "1000000000000000000"),
            (-9_223_372_036_854_775_808.0, "-9223372036854775808"),
            (9_223_372_036_854_775_808.0, "9.223372036854776e+18"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ] {
            assert_eq!(number(given), expected);
        }
    }

    #[test]
    fn a_result_ends_at_its_limit() {
        let budget = Budget { result_bytes_max: 4, ..Budget::default() };
        let mut text = ResultText::new(&budget);
        assert_eq!(text.push_text("ab"), Ok(()));
        assert_eq!(text.push("1"), Err(reason::too_long_a_result(&budget)));
        assert_eq!(text.finish().text(), "\"ab\"");
    }
}
