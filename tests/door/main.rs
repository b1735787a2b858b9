//! # The door: raw HTTP against a real server process
//!
//! The contract's checklist to the byte, and hostile input: whatever is sent, the answer is a
//! documented success or a 4xx that says what is wrong; never a 5xx, never a dropped connection.
//! **May not:** use a client that is kinder than the wire.

mod access;
mod applications;
mod auth;
mod bodies;
mod bulk;
mod checklist;
mod collector;
mod crowd;
mod data_in_disguise;
mod data_in_requests;
mod data_is_text;
mod definition_tags;
mod definitions;
mod descendants;
mod documents;
mod early_answers;
mod effects;
mod environment;
mod events;
mod execute;
mod explain;
mod fencing;
mod fields;
mod first_key;
mod fuzz;
mod gates;
mod grants;
mod hostile;
mod house;
mod idle;
mod key_rules;
mod keyed_routes;
mod keys;
mod large_answers;
mod limits;
mod lint;
mod locks;
mod logins;
mod lost_answers;
mod manners;
mod memory;
mod misread;
mod observability;
mod operations;
mod ops;
mod queues;
mod raw;
mod refusals;
mod rehearsals;
mod request_keys;
mod resolutions;
mod retention;
mod routes;
mod samples;
mod schemas;
mod search;
mod secrets;
mod start_keys;
mod tasks;
mod unread;
mod warnings;
mod web;
