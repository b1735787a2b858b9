//! # Patterns: `=~ /re/flags` in linear time
//!
//! A pattern matches the whole text, as Java's `matches()` does, and `\w`, `\d` and the flag `i` mean
//! ASCII, which is Java's default too. What needs backtracking (look-around, back-references) and
//! `\p{...}` is not valid. The work is pattern times text, so each text is paid for by the size of
//! the compiled pattern. The lane waits while a pattern runs, so its price is well above what the
//! same time costs elsewhere: all that a path may spend is some tens of milliseconds of matching.

use regex_lite::{Regex, RegexBuilder};

#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    size_kib: usize,
}

/// How large a compiled pattern may be; the least that fits is its price. 1 KiB is some 30 states.
const SIZES_KIB: [usize; 5] = [1, 2, 4, 8, 16];

/// What a pattern of 1 KiB pays to read one byte.
const NODES_PER_BYTE: usize = 16;

/// What it costs to compile a pattern, whether it then fits or not.
pub(super) const COMPILE_NODES: usize = 4_000;

/// A longer pattern is not valid: it would not fit, and is not worth finding out.
const PATTERN_BYTES_MAX: usize = 4_000;

impl Pattern {
    pub(super) fn compile(pattern: &str, flags: &str) -> Option<Self> {
        let is_known = |flag| "imsxduU".contains(flag); // d, u, U: nothing here to switch.
        if pattern.len() > PATTERN_BYTES_MAX || !flags.chars().all(is_known) {
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
        (1 + text.len()) * NODES_PER_BYTE * self.size_kib
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
