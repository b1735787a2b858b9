//! # Patterns of schemas: paid for by their size
//!
//! A pattern never goes back, and still reads each byte once for all of its states that may hold. So a text costs the
//! size of the compiled pattern for every byte of it. `pattern` is compiled here, into the least that it fits, and pays
//! before it looks; the names of members pay for all `patternProperties` of their schema. Small patterns are free:
//! they have so few states that reading the text is what takes time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::paths::Location;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::meter::{BYTES_PER_STEP, Counted, Metered, pay};

/// How large a compiled pattern may be; the least that fits is its price.
const SIZES: [usize; 10] = [
    FREE,
    1024,
    2 * 1024,
    4 * 1024,
    8 * 1024,
    16 * 1024,
    32 * 1024,
    64 * 1024,
    128 * 1024,
    PATTERN_BYTES_MAX,
];

/// A compiled pattern.
pub(super) const PATTERN_BYTES_MAX: usize = 256 * 1024;

const FREE: usize = 512;

/// What a pattern of 1 KiB pays to read one byte.
const STEPS_PER_BYTE: usize = 2;

/// To compile a pattern that came as a value, `"format": "regex"`, of any size.
const COMPILE_STEPS: usize = 20_000;

/// What a text costs: this, and more for its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Price {
    whole: usize,
    per_sixteen_bytes: usize,
}

impl Price {
    /// Of a text that nothing but its length matters of.
    pub(super) const PLAIN: Self = Self { whole: 1, per_sixteen_bytes: 1 };

    fn of(pattern: &str, size: usize) -> Self {
        let whole = 1 + pattern.len() / BYTES_PER_STEP; // A list of texts is compared one by one.
        let per_byte = STEPS_PER_BYTE * (size / 1024);
        Self { whole, per_sixteen_bytes: (per_byte * BYTES_PER_STEP).max(1) }
    }

    pub(super) fn plus(self, more: Self) -> Self {
        Self {
            whole: self.whole + more.whole,
            per_sixteen_bytes: self.per_sixteen_bytes + more.per_sixteen_bytes,
        }
    }

    pub(super) fn steps(self, bytes: usize) -> usize {
        self.whole + bytes.saturating_mul(self.per_sixteen_bytes) / BYTES_PER_STEP
    }
}

/// A pattern that is ready, and its price.
#[derive(Clone)]
pub(super) struct Pattern {
    pub(super) price: Price,
    validator: Arc<Validator<Metered>>,
}

impl Pattern {
    /// None: it is none, it is too large, or it would have to go back.
    pub(super) fn compile(pattern: &str) -> Option<Self> {
        let schema = json!({"pattern": pattern});
        SIZES.iter().find_map(|size| {
            let patterns = PatternOptions::regex().size_limit(*size);
            let options = jsonschema::options_for::<Metered>().offline();
            let validator = options.with_pattern_options(patterns).build(&schema).ok()?;
            Some(Self { price: Price::of(pattern, *size), validator: Arc::new(validator) })
        })
    }

    fn pay_for(&self, node: Counted<'_>) {
        if let Some(text) = node.0.as_str() {
            pay(self.price.steps(text.len()));
        }
    }
}

impl<'i> Keyword<'i, Metered> for Pattern {
    fn validate(&self, node: Counted<'i>) -> Result<(), ValidationError<'i>> {
        self.pay_for(node);
        self.validator.validate(node)
    }

    fn is_valid(&self, node: Counted<'i>) -> bool {
        self.pay_for(node);
        self.validator.is_valid(node)
    }
}

/// The patterns of one schema, each compiled once.
#[derive(Default)]
pub(super) struct Patterns(Mutex<BTreeMap<String, Option<Pattern>>>);

impl Patterns {
    pub(super) fn get(&self, pattern: &str) -> Option<Pattern> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || Pattern::compile(pattern);
        known.entry(pattern.to_owned()).or_insert_with(compile).clone()
    }

    /// The keyword `pattern`.
    pub(super) fn keyword<'a>(
        &self,
        _: &'a Map<String, Value>,
        given: &'a Value,
        _: Location,
    ) -> Result<Box<dyn for<'i> Keyword<'i, Metered>>, ValidationError<'a>> {
        let ready = given.as_str().and_then(|pattern| self.get(pattern));
        let wrong = || ValidationError::custom(format!("{given} is not a \"regex\"{OR_WHAT}"));
        Ok(Box::new(ready.ok_or_else(wrong)?))
    }
}

/// What else may be wrong with a pattern that is none.
pub(super) const OR_WHAT: &str =
    ", or one that is too large or needs look-around or back-references";

/// The format `regex`: whether a value is a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    pay(COMPILE_STEPS + text.len());
    Pattern::compile(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pattern: &str, bytes: usize) -> usize {
        Pattern::compile(pattern).unwrap().price.steps(bytes)
    }

    #[test]
    fn the_price_grows_with_the_pattern_and_with_the_text() {
        for free in ["^[a-z0-9-]+$", "^[A-Z]{3}$", "^\\d+$", "^(open|closed)$", "^x-"] {
            assert!(steps(free, 1_600) < 110, "{free}: {}", steps(free, 1_600));
        }
        let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
        assert!(steps(uuid, 36) < 600, "{}", steps(uuid, 36));
        let grown: Vec<usize> =
            [10, 100, 1000].iter().map(|n| steps(&format!("[ab]*a[ab]{{{n}}}"), 1_000)).collect();
        assert!(grown[0] * 3 < grown[1] && grown[1] * 3 < grown[2], "{grown:?}");
        assert!(steps("[ab]*a[ab]{3000}", 100_000) > 10_000_000);
        let many: Vec<String> = (0..5_000).map(|n| format!("n{n}")).collect();
        assert!(steps(&format!("^({})$", many.join("|")), 5) > 1_000);
    }

    #[test]
    fn what_is_no_pattern_has_no_price() {
        for none in ["(", "(?=a)b", "(a)\\1", "a{100000}"] {
            assert!(Pattern::compile(none).is_none(), "{none}");
        }
    }
}
