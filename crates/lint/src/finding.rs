//! # Findings: a code, a place, what is wrong and what to do

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that will go wrong, or is likely to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// The reference of a task, those of definitions given in place behind the task that gives them
    /// (`outer/inner`); or a field of the definition.
    pub at: String,
    /// What is wrong, with the numbers.
    pub message: String,
    pub fix: String,
}

impl Finding {
    pub(crate) fn new(
        code: Code,
        at: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        let (at, message, fix) = (shortened(at), shortened(&message.into()), fix.into());
        Self { code, severity: code.severity(), at, message, fix: shortened(&fix) }
    }
}

/// A hostile text is quoted only so far.
const CHARS_MAX: usize = 1_000;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What was found in one definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Linted {
    pub name: String,
    pub version: i32,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// The arithmetic does not hold.
    Error,
    /// It may be meant so.
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warning => "WARNING",
        }
    }
}

macro_rules! codes {
    ($($(#[$meta:meta])* $code:ident = $text:literal,)+) => {
        /// The rules. Each has a page `docs/errors/<CODE>.md`.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Code {
            $($(#[$meta])* #[serde(rename = $text)] $code,)+
        }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$code,)+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)+
                }
            }
        }
    };
}

codes! {
    /// Registration refuses it.
    EReg1 = "E-REG-1",
    /// It is registered, and fails when a run gets there.
    WRun1 = "W-RUN-1",
    /// It is registered, and changes nothing.
    WRun2 = "W-RUN-2",
    /// A member that nobody knows: it is not kept, or nobody reads it.
    WRun3 = "W-RUN-3",
    /// An expression that starts nowhere: it is null.
    WRun4 = "W-RUN-4",
    /// A key is forgotten while it may still be asked for.
    ERet1 = "E-RET-1",
    /// Attempts go on after the far side has forgotten the key.
    ERet2 = "E-RET-2",
    /// Nothing bounds how long attempts may go on.
    WRet3 = "W-RET-3",
    /// Every run has the same key.
    WKey1 = "W-KEY-1",
    /// Every turn or branch has the same key.
    WKey2 = "W-KEY-2",
    /// A retry finds the child that failed.
    WKey3 = "W-KEY-3",
    /// A key that is another one each time.
    WKey4 = "W-KEY-4",
    /// A part of a key may be missing.
    WKey5 = "W-KEY-5",
    /// Several requests at once without a key.
    EHttp1 = "E-HTTP-1",
    /// A POST without a key.
    WHttp2 = "W-HTTP-2",
    /// A POST with a key to a service that is not known to honour keys.
    WHttp3 = "W-HTTP-3",
    /// In doubt it is done again.
    WEffect1 = "W-EFFECT-1",
    /// Secrets are used and not listed.
    WSecret1 = "W-SECRET-1",
    /// A worker that dies is never noticed.
    WTimeout1 = "W-TIMEOUT-1",
}

impl Code {
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('E') { Severity::Error } else { Severity::Warning }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
