//! # Tags: added and taken away, the same way on everything that has them

use semel_engine::Rejection;
use semel_model::{Tag, Violation};
use semel_runtime::Failure;
use semel_store::DocumentKey;

use crate::answer::{Answered, empty};
use crate::app::App;
use crate::error::ApiError;
use crate::request::Body;

/// Tags one thing may have.
const TAGS_MAX: usize = 100;

/// A tag of the same key and value is there already.
pub(crate) async fn add(app: &App, key: DocumentKey, body: &Body) -> Result<(), ApiError> {
    let added = read(body)?;
    let retag = move |tags: &mut Vec<Tag>| {
        for tag in &added {
            if !tags.iter().any(|known| known.is_same(tag)) {
                tags.push(tag.clone());
            }
        }
        if tags.len() > TAGS_MAX {
            return Err(Rejection::Invalid(too_many()).into());
        }
        Ok(())
    };
    Ok(app.runtime.retag(key, retag).await?)
}

/// These and no others.
pub(crate) async fn set(app: &App, key: DocumentKey, body: &Body) -> Result<(), ApiError> {
    let wanted = read(body)?;
    let retag = move |tags: &mut Vec<Tag>| {
        tags.clone_from(&wanted);
        Ok(())
    };
    Ok(app.runtime.retag(key, retag).await?)
}

pub(crate) async fn remove(app: &App, key: DocumentKey, body: &Body) -> Result<(), ApiError> {
    let removed = read(body)?;
    let retag = move |tags: &mut Vec<Tag>| {
        tags.retain(|tag| !removed.iter().any(|gone| gone.is_same(tag)));
        Ok(())
    };
    Ok(app.runtime.retag(key, retag).await?)
}

/// `missing` says that the thing itself is not there.
pub(crate) fn answered(done: Result<(), ApiError>, missing: impl FnOnce() -> ApiError) -> Answered {
    match done {
        Ok(()) => Ok(empty()),
        Err(ApiError::Failed(Failure::Missing(_))) => Err(missing()),
        Err(error) => Err(error),
    }
}

fn read(body: &Body) -> Result<Vec<Tag>, ApiError> {
    let tags: Vec<Tag> = body.one_or_more()?;
    if tags.len() > TAGS_MAX {
        return Err(ApiError::Malformed(too_many()));
    }
    let nameless = tags.iter().position(|tag| tag.key.is_empty());
    let violation = nameless.map(|at| Violation::new(format!("[{at}].key"), "must not be empty"));
    violation.map_or(Ok(tags), |violation| Err(ApiError::Invalid(vec![violation])))
}

fn too_many() -> String {
    format!("one thing may have {TAGS_MAX} tags and no more")
}
