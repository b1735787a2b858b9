//! # Effects, a page at a time

use axum::extract::State;
use schemars::JsonSchema;
use semel_engine::{EFFECT_SCOPE, Record, RecordKey, RecordState};
use semel_model::Timestamp;
use semel_runtime::{Failure, World};
use serde::Serialize;
use serde_json::json;

use super::answers::view;
use crate::answer::Answered;
use crate::app::App;
use crate::error::ApiError;
use crate::params::Params;
use crate::records::RecordView;
use crate::room::{held, room};

/// Effects in one answer.
const SIZE: usize = 100;
const SIZE_MAX: usize = 1_000;

/// Records looked at for one answer: who wants few among many turns the page.
const LOOKED_AT_MAX: usize = 20_000;

/// `GET /api/effects`: those of a state, or created since then; `after` is where the last page ended.
pub(super) async fn list(State(app): State<App>, params: Params) -> Answered {
    let size: usize = params.number("size")?.unwrap_or(SIZE);
    if !(1..=SIZE_MAX).contains(&size) {
        return Err(ApiError::Malformed(format!("size must be from 1 to {SIZE_MAX}, not {size}")));
    }
    let state = params.text("state").map(|text| {
        let states = RecordState::ALL.map(RecordState::as_str).join(", ");
        let unknown = || ApiError::Malformed(format!("state must be one of {states}, not {text}"));
        RecordState::parse(&text.to_ascii_uppercase()).ok_or_else(unknown)
    });
    let wanted = Wanted {
        scope: params.text("scope").map(|scope| format!("{EFFECT_SCOPE}{scope}")),
        state: state.transpose()?,
        since: params.number::<i64>("since")?.map(Timestamp::from_ms),
        size,
    };
    let after = params.text("after").map(|text| {
        let cursor: Result<(String, String), _> = serde_json::from_str(text);
        let wrong = |_| ApiError::Malformed("after must be what the last page gave".to_owned());
        let (scope, key) = cursor.map_err(wrong)?;
        Ok::<_, ApiError>(RecordKey::effect(&scope, &key))
    });
    let after = after.transpose()?;
    let now = app.runtime.now();
    let room = room(&app).await?;
    let page = app.runtime.blocking(move |world| wanted.page(world, after, now)).await?;
    let text = serde_json::to_vec(&page);
    Ok(held(text.map_err(|error| ApiError::Internal(error.to_string()))?, room))
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    results: Vec<RecordView>,
    /// Where the next page begins; none: there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

struct Wanted {
    scope: Option<String>,
    state: Option<RecordState>,
    since: Option<Timestamp>,
    size: usize,
}

impl Wanted {
    fn page(
        &self,
        world: &World,
        mut after: Option<RecordKey>,
        now: Timestamp,
    ) -> Result<Page, Failure> {
        let scopes = self.scope.as_deref().unwrap_or(EFFECT_SCOPE);
        let bytes_max = usize::try_from(world.budget().answer()).unwrap_or(usize::MAX) / 2;
        let (mut results, mut looked_at, mut bytes) = (Vec::new(), 0, 0);
        loop {
            let batch = world.records(scopes, after.as_ref(), SIZE_MAX)?;
            let is_last = batch.len() < SIZE_MAX;
            for (key, record) in batch {
                looked_at += 1;
                after = Some(key.clone());
                if self.fits(&key, &record, now) {
                    let row = view(&key, record, now);
                    bytes += serde_json::to_vec(&row).map_or(0, |text| text.len());
                    results.push(row);
                }
                // A page of half an answer is full: one row more, however large, still fits.
                let is_full = results.len() == self.size || bytes > bytes_max;
                if is_full || looked_at == LOOKED_AT_MAX {
                    let at = (key.scope.strip_prefix(EFFECT_SCOPE).unwrap_or_default(), &key.key);
                    return Ok(Page { results, after: Some(json!(at).to_string()) });
                }
            }
            if is_last {
                return Ok(Page { results, after: None });
            }
        }
    }

    fn fits(&self, key: &RecordKey, record: &Record, now: Timestamp) -> bool {
        let in_scope = self.scope.as_ref().is_none_or(|scope| *scope == key.scope);
        let in_state = self.state.is_none_or(|state| state == record.state_at(now));
        let in_time = self.since.is_none_or(|since| record.created_at >= since);
        in_scope && in_state && in_time && !record.is_expired(now)
    }
}
