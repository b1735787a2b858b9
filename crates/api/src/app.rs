//! # What handlers share

use std::sync::Arc;
use std::time::Duration;

use semel_runtime::Runtime;

use crate::auth::Auth;
use crate::watch::Watch;

#[derive(Clone)]
pub struct App {
    pub runtime: Arc<Runtime>,
    pub limits: Limits,
    /// None: everybody may do everything.
    pub auth: Option<Arc<Auth>>,
    /// Serves `POST /test/clock`.
    pub test_clock: bool,
    pub watch: Watch,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub body_bytes_max: usize,
    pub poll_wait_ms_max: u64,
    pub execute_wait_ms_max: u64,
}

impl Limits {
    pub(crate) fn execute_wait(self, asked: Duration) -> Duration {
        asked.min(Duration::from_millis(self.execute_wait_ms_max))
    }
}
