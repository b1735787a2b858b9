//! # Retention: a key must be remembered as long as it may be asked for
//!
//! An effect's key: `W_task` plus the time in which runs can be run again, plus skew. A start's key:
//! what senders and clients may repeat, plus skew. A key of the far side: `W_task`. Errors are told
//! only where the seconds that are certain are too many already.

use semel_model::effective_effect;

use crate::finding::{Code, Finding};
use crate::walk::{Place, Scene};
use crate::window::{Window, told};
use crate::{DAY_SECONDS, Settings};

/// Nobody waits so long; whoever writes it means for ever.
const FOREVER_SECONDS: i64 = 10 * 365 * DAY_SECONDS;

pub(crate) fn of_definition(scene: &Scene<'_>, settings: &Settings) -> Option<Finding> {
    let retention = scene.definition.idempotency.as_ref()?.retention_seconds?;
    // A key is kept as long as its run, and then for its retention.
    let kept = retention.saturating_add(settings.execution_retention_seconds?);
    let Settings { sender_window_seconds, client_window_seconds, skew_seconds, .. } = *settings;
    let need =
        sender_window_seconds.saturating_add(client_window_seconds).saturating_add(skew_seconds);
    (kept < need).then(|| {
        let message = format!(
            "a start key is kept for {} after its run has ended, but a start may be repeated for \
             {}: {sender_window_seconds} s by whoever triggers it, {client_window_seconds} s by a \
             client, {skew_seconds} s of skew",
            told(kept),
            told(need)
        );
        let fix = format!(
            "set idempotency.retentionSeconds to at least {}",
            retention.saturating_add(need - kept)
        );
        let at = format!("{}idempotency.retentionSeconds", scene.prefix);
        Finding::new(Code::ERet1, &at, message, fix)
    })
}

pub(crate) fn of_step(place: &Place<'_>, settings: &Settings) -> Vec<Finding> {
    let has_own = place.step.effect.is_some() || place.policy.effect.is_some();
    // A cache is meant to forget.
    let Some(policy) = effective_effect(&place.policy, &place.step).filter(|_| has_own) else {
        return vec![];
    };
    let window = Window::of(&place.policy, place.retries());
    let errors = [
        policy.retention_seconds.and_then(|kept| effect_key(place, &window, kept, settings)),
        policy.downstream_retention_seconds.and_then(|kept| downstream(place, &window, kept)),
    ];
    let mut findings: Vec<Finding> = errors.into_iter().flatten().collect();
    let is_told = !findings.is_empty();
    findings.extend(unbounded(place).or_else(|| endless(place, &window).filter(|_| !is_told)));
    findings.extend(policy.retention_seconds.and_then(|kept| kept_runs(place, kept, settings)));
    findings
}

fn effect_key(
    place: &Place<'_>,
    window: &Window,
    retention: i64,
    settings: &Settings,
) -> Option<Finding> {
    let again = settings.execution_retention_seconds.unwrap_or(0);
    let need = window.seconds.saturating_add(again).saturating_add(settings.skew_seconds);
    (retention < need).then(|| {
        let message = format!(
            "the effect is remembered for {}, but may be asked for during {}: {}; runs can be run \
             again for {again} s; {} s of skew",
            told(retention),
            told(need),
            window.sum(),
            settings.skew_seconds
        );
        let fix = format!(
            "set effect.retentionSeconds to at least {need}, or leave it out: then the effect \
             outlives its run"
        );
        Finding::new(Code::ERet1, &place.at, message, fix)
    })
}

fn downstream(place: &Place<'_>, window: &Window, retention: i64) -> Option<Finding> {
    (window.seconds > retention).then(|| {
        let message = format!(
            "attempts may go on longer than the far side remembers the key, which is {}: {}",
            told(retention),
            window.sum()
        );
        let fix = "retry less often or with a smaller maxRetryDelaySeconds, shorten \
                   timeoutSeconds, or set totalTimeoutSeconds";
        Finding::new(Code::ERet2, &place.at, message, fix)
    })
}

/// An attempt that nothing ends.
fn unbounded(place: &Place<'_>) -> Option<Finding> {
    let kind = place.step.kind.as_str();
    let waits = matches!(kind, "SUB_WORKFLOW" | "HUMAN" | "WAIT");
    let is_open = place.policy.timeout_seconds <= 0 && (place.is_worker() || waits);
    is_open.then(|| {
        let who = match place.is_worker() {
            true => "a worker that keeps extending its lease works for".to_owned(),
            false => format!("a {kind} takes"),
        };
        let message = format!(
            "timeoutSeconds is 0: {who} as long as it likes, and no retention of a key is long \
             enough"
        );
        let fix = format!("set timeoutSeconds in the task definition named {}", place.step.name);
        Finding::new(Code::WRet3, &place.at, message, fix)
    })
}

/// Attempts that end when nobody is there any more.
fn endless(place: &Place<'_>, window: &Window) -> Option<Finding> {
    (window.seconds >= FOREVER_SECONDS).then(|| {
        let message = format!("attempts go on for ever: {}", window.sum());
        let fix = "set totalTimeoutSeconds, or a smaller retryCount";
        Finding::new(Code::WRet3, &place.at, message, fix)
    })
}

fn kept_runs(place: &Place<'_>, retention: i64, settings: &Settings) -> Option<Finding> {
    settings.execution_retention_seconds.is_none().then(|| {
        let message = format!(
            "runs are kept for ever, so one can be run again after its effect is forgotten, which \
             is after {}",
            told(retention)
        );
        let fix = "set retention_days of the server, or leave effect.retentionSeconds out";
        Finding::new(Code::WRet3, &place.at, message, fix)
    })
}
