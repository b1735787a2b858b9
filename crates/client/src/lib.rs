//! # Client: the public API, typed
//!
//! One method per endpoint, blocking, one attempt each: whether to ask again is the caller's choice,
//! and the error says when it is safe. **May use:** the model. **May not:** know how a server works.

mod address;
mod answer;
mod call;
mod client;
mod definitions;
mod error;
mod records;
mod service;
mod tasks;
mod workflows;

pub use address::Address;
pub use answer::Answer;
pub use client::{Client, Credentials};
pub use error::{ClientError, Refusal};
pub use records::{RecordPage, RecordQuery, Resolve};
pub use tasks::{Poll, Said};
pub use workflows::{Rerun, Search, SearchPage, Synchronous};
