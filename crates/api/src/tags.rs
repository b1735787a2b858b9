//! # Tags: added and taken away, the same way on everything that has them

use semel_engine::Rejection;
use semel_model::{Tag, Violation};
use semel_runtime::Failure;
use semel_store::DocumentKey;
use serde_json::Value;

use crate::answer::{Answered, empty};
use crate::app::App;
use crate::error::ApiError;
use crate::request::Body;

/// Tags one thing may have.
const TAGS_MAX: usize = 100;

/// One of the same key and value gets the type that is sent now, if one is.
pub(crate) async fn add(app: &App, key: DocumentKey, body: &Body) -> Result<(), ApiError> {
    let added = read(body)?;
    let retag = move |tags: &mut Vec<Tag>| {
        added.iter().for_each(|tag| put(tags, tag));
        if tags.len() > TAGS_MAX {
            return Err(Rejection::Invalid(too_many()).into());
        }
        Ok(())
    };
    Ok(app.runtime.retag(key, retag).await?)
}

fn put(tags: &mut Vec<Tag>, tag: &Tag) {
    match tags.iter_mut().find(|known| known.is_same(tag)) {
        Some(known) if tag.kind.is_some() => known.kind.clone_from(&tag.kind),
        Some(_) => {}
        None => tags.push(tag.clone()),
    }
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

/// What the tags inside definitions of one name do to its tags, in the order of the definitions: each
/// list takes the place of those before, unless it says `overwriteTags: false`.
pub(crate) fn applied(tags: &mut Vec<Tag>, inside: &[TagsInside]) -> Result<(), Failure> {
    for TagsInside { tags: wanted, overwrite } in inside {
        if *overwrite {
            tags.clear();
        }
        wanted.iter().for_each(|tag| put(tags, tag));
    }
    if tags.len() > TAGS_MAX {
        return Err(Rejection::Invalid(too_many()).into());
    }
    Ok(())
}

/// The tags inside one definition.
pub(crate) struct TagsInside {
    tags: Vec<Tag>,
    overwrite: bool,
}

impl TagsInside {
    /// None: it says nothing of them, or nothing that can be read.
    pub(crate) fn of(tags: Option<&Value>, overwrite: Option<&Value>) -> Option<Self> {
        let tags = Tag::inside(tags).ok().flatten()?;
        let is_kept = |said: &Value| said == &Value::Bool(false) || said == "false";
        Some(Self { tags, overwrite: !overwrite.is_some_and(is_kept) })
    }
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
