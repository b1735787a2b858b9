//! # HTTP tasks: a real server, a stranger's service, and everything that goes wrong between them
//!
//! The [`semel_tests::oracle`] counts what it did. Whatever happens in between, an order with a key is
//! charged once, and a request without one is never sent twice. **May not:** need anything but
//! loopback, which the server under test is told to allow.

mod crashes;
mod faults;
mod guarding;
mod inputs;
mod patience;
mod scene;
mod sending;
