//! # Harnesses shared by the suites in this directory

mod caller;
pub mod dice;
pub mod linearizability;
pub mod oracle;
pub mod postgres;
pub mod process;
pub mod scripts;
pub mod site;
