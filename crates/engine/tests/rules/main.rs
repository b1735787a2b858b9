//! # The rules of the engine, one test each, by its public API alone
//!
//! Every test plays one execution on a [`bench`]: the clock is a number, workers are names, and
//! after each check the journal is folded and decided again from its bytes.

mod bench;
mod callbacks;
mod children;
mod definitions;
mod domains;
mod endings;
mod events;
mod expression_cases;
mod expression_properties;
mod expressions;
mod failure_workflows;
mod family;
mod family_plan;
mod family_properties;
mod fencing;
mod fixture;
mod given_definitions;
mod handlers;
mod hostile;
mod journal;
mod listeners;
mod lives;
mod mail;
mod pause;
mod payload_limits;
mod plan;
mod properties;
mod reports;
mod rerun;
mod restart;
mod retries;
mod retry_by_hand;
mod sequence;
mod shapes;
mod shelf;
mod starts;
mod state_changes;
mod steering;
mod system_tasks;
mod timeout_order;
mod timeouts;
mod views;
mod waits;
