//! # Patterns: `=~ /re/flags` in linear time
//!
//! A pattern matches the whole text, as Java's `matches()` does, and `\w`, `\d` and the flag `i` mean
//! ASCII, which is Java's default too. What needs backtracking (look-around, back-references) and
//! `\p{...}` is not valid. The work is pattern times text, so each text is paid for by the size of
//! the compiled pattern.

use regex_lite::{Regex, RegexBuilder};

#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    size_kib: usize,
}

/// How large a compiled pattern may be; the least that fits is its price. 1 KiB is some 30 states.
const SIZES_KIB: [usize; 5] = [1, 2, 4, 8, 16];

/// Of the text a pattern of 1 KiB reads for the price of one node.
const BYTES_PER_NODE: usize = 4;

impl Pattern {
    pub(super) fn compile(pattern: &str, flags: &str) -> Option<Self> {
        let is_known = |flag| "imsxduU".contains(flag); // d, u, U: nothing here to switch.
        if !flags.chars().all(is_known) {
            return None;
        }
        // Alone first: `a)(?:b` must not pass because of the parentheses around it.
        build(pattern, flags, SIZES_KIB[SIZES_KIB.len() - 1])?;
        let end = if flags.contains('x') { "\n" } else { "" }; // A comment ends with its line.
        let whole = format!("\\A(?:{pattern}{end})\\z");
        SIZES_KIB.iter().find_map(|size_kib| {
            Some(Self { regex: build(&whole, flags, *size_kib)?, size_kib: *size_kib })
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The price of looking at this text, in nodes.
    pub(super) fn nodes(&self, text: &str) -> usize {
        (1 + text.len() / BYTES_PER_NODE) * self.size_kib
    }
}

fn build(pattern: &str, flags: &str, size_kib: usize) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .ignore_whitespace(flags.contains('x'))
        .size_limit(size_kib * 1024)
        .build()
        .ok()
}
