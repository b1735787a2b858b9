//! # Warnings: what is registered although it will not do what it says
//!
//! A definition that can never run is refused. One that only fails when a run gets there, or of
//! which a part means nothing in this release, is registered, and the answer names each such place
//! in the header `X-Semel-Warning`. The lint finds the same, under the same codes.

use std::fmt;

/// One such place of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub kind: WarningKind,
    pub path: String,
    pub message: String,
}

/// What comes of a place that is warned about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// A run that gets there fails, and says why.
    FailsAtRunTime,
    /// It is kept, given back, and changes nothing.
    NoEffect,
    /// Nobody knows such a member: it is not kept, or nobody reads it.
    Dropped,
    /// An expression that starts nowhere.
    ReadsNull,
}

impl WarningKind {
    /// The code that the lint has for it.
    pub fn code(self) -> &'static str {
        match self {
            Self::FailsAtRunTime => "W-RUN-1",
            Self::NoEffect => "W-RUN-2",
            Self::Dropped => "W-RUN-3",
            Self::ReadsNull => "W-RUN-4",
        }
    }

    /// The page about it.
    pub fn page(self) -> &'static str {
        match self {
            Self::FailsAtRunTime => "docs/errors/W-RUN-1.md",
            Self::NoEffect => "docs/errors/W-RUN-2.md",
            Self::Dropped => "docs/errors/W-RUN-3.md",
            Self::ReadsNull => "docs/errors/W-RUN-4.md",
        }
    }
}

impl Warning {
    pub fn fails_at_run_time(path: impl Into<String>, message: impl Into<String>) -> Self {
        let kind = WarningKind::FailsAtRunTime;
        Self { kind, path: path.into(), message: message.into() }
    }

    pub fn no_effect(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: WarningKind::NoEffect, path: path.into(), message: message.into() }
    }

    pub fn dropped(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: WarningKind::Dropped, path: path.into(), message: message.into() }
    }

    pub fn null(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: WarningKind::ReadsNull, path: path.into(), message: message.into() }
    }

    /// The same, of something that stands further inside.
    #[must_use]
    pub fn below(self, prefix: &str) -> Self {
        Self { path: format!("{prefix}{}", self.path), ..self }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.path, self.message, self.kind.page())
    }
}
