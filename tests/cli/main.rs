//! # The command line: the real binary against a real server
//!
//! What people type, what comes out on stdout, and the exit code a script sees.
//! **May not:** reach into the server by any other way than the commands and its API.

mod backups;
mod clocks;
mod copies;
mod doctor;
mod everything_else;
mod explain;
mod house;
mod lint;
mod losses;
mod records;
mod tasks;
mod workflows;
