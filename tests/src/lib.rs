//! # Harnesses shared by the suites in this directory

pub mod process;
pub mod scripts;
