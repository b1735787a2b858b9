//! # Room: answers that may be large
//!
//! Each has a limit in bytes, and all of them together have a share of the memory. Lists that come in
//! pages stop at the limit and say so; what cannot be continued is refused with the way to ask for less.

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use semel_runtime::{Failure, Room, World};
use serde::Serialize;

use crate::answer::{Answered, with_header};
use crate::app::App;
use crate::error::ApiError;
use crate::refusal::Refusal;

/// Named in a refusal for its size.
const CODE: &str = "ANSWER_TOO_LARGE";

/// A list under way, as text: `[a,b,c`; or several, by name.
pub(crate) struct Rows {
    text: Vec<u8>,
    /// Of all rows, and of those in the list that is open.
    count: usize,
    listed: usize,
    max: usize,
    is_cut: bool,
}

impl Rows {
    /// Of so many bytes at most, but for the first row.
    pub(crate) fn new(max: u64) -> Self {
        Self { text: b"[".to_vec(), ..Self::groups(max) }
    }

    /// Lists by name: each begins with [`Rows::begin_group`].
    pub(crate) fn groups(max: u64) -> Self {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        Self { text: Vec::new(), count: 0, listed: 0, max, is_cut: false }
    }

    pub(crate) fn begin_group(&mut self, name: &str) -> Result<(), Failure> {
        self.text.extend_from_slice(if self.text.is_empty() { b"{" } else { b"]," });
        self.listed = 0;
        self.write(&name)?;
        self.text.extend_from_slice(b":[");
        Ok(())
    }

    /// False: it did not fit, and nothing after it is added.
    pub(crate) fn push<T: Serialize>(&mut self, row: &T) -> Result<bool, Failure> {
        if self.is_cut {
            return Ok(false);
        }
        let before = self.text.len();
        if self.listed > 0 {
            self.text.push(b',');
        }
        self.write(row)?;
        if self.count > 0 && self.text.len() > self.max {
            self.text.truncate(before);
            self.is_cut = true;
            return Ok(false);
        }
        self.count += 1;
        self.listed += 1;
        Ok(true)
    }

    fn write<T: Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.text, value)
            .map_err(|error| Failure::Fault(error.to_string()))
    }

    /// All of them, or as many as fit.
    pub(crate) fn fill<T: Serialize>(
        &mut self,
        rows: impl IntoIterator<Item = T>,
    ) -> Result<(), Failure> {
        for row in rows {
            if !self.push(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// The list itself.
    pub(crate) fn list(self, room: Room) -> Response {
        let Self { mut text, count, is_cut, .. } = self;
        text.push(b']');
        told(held(text, room), count, is_cut)
    }

    /// The list itself, where nobody could ask for the rest of it. `instead` is how to ask for less.
    pub(crate) fn all(self, room: Room, instead: &str) -> Answered {
        self.complete(instead).map(|rows| rows.list(room))
    }

    /// Rows that are read at once, all of them.
    pub(crate) async fn of_all<T: Serialize + Send + 'static>(
        app: &App,
        read: impl FnOnce(&World) -> Result<Vec<T>, Failure> + Send + 'static,
        instead: &'static str,
    ) -> Answered {
        let room = room(app).await?;
        let listed = move |world: &World| {
            let mut rows = Self::new(world.budget().answer());
            rows.fill(read(world)?)?;
            Ok(rows)
        };
        app.runtime.blocking(listed).await?.all(room, instead)
    }

    /// The lists by their names, all of them.
    pub(crate) fn all_grouped(self, room: Room, instead: &str) -> Answered {
        let Self { mut text, .. } = self.complete(instead)?;
        text.extend_from_slice(if text.is_empty() { b"{}" } else { b"]}" });
        Ok(held(text, room))
    }

    fn complete(self, instead: &str) -> Result<Self, ApiError> {
        if self.is_cut { Err(too_large(self.max as u64, instead)) } else { Ok(self) }
    }

    /// A page of a search, with the number of all there are.
    pub(crate) fn page(self, total_hits: usize, room: Room) -> Response {
        let Self { text: list, count, is_cut, .. } = self;
        let mut text = format!("{{\"totalHits\":{total_hits},\"results\":").into_bytes();
        text.extend(list);
        text.extend(b"]}");
        told(held(text, room), count, is_cut)
    }
}

/// Says that the answer ends before its list does.
fn told(response: Response, count: usize, is_cut: bool) -> Response {
    if !is_cut {
        return response;
    }
    let why = format!("the answer is full with {count} rows; ask for the others from there on");
    let response = with_header(response, "x-semel-warning", &why);
    with_header(response, "x-semel-rows", &count.to_string())
}

/// Room for the largest answer.
pub(crate) async fn room(app: &App) -> Result<Room, ApiError> {
    room_for(app, u64::MAX).await
}

/// Room for one of so many bytes, or for the largest one.
pub(crate) async fn room_for(app: &App, bytes: u64) -> Result<Room, ApiError> {
    let world = app.runtime.world();
    Ok(world.answers.reserve(bytes.min(world.budget().answer())).await?)
}

/// One value, unless it is larger than an answer may be. `instead` is how to ask for less.
pub(crate) fn whole<T: Serialize>(app: &App, body: &T, room: Room, instead: &str) -> Answered {
    let max = app.runtime.world().budget().answer();
    let mut text = Limited { text: Vec::new(), max: usize::try_from(max).unwrap_or(usize::MAX) };
    match serde_json::to_writer(&mut text, body) {
        Ok(()) => Ok(held(text.text, room)),
        Err(error) if error.is_io() => Err(too_large(max, instead)),
        Err(error) => Err(ApiError::Internal(error.to_string())),
    }
}

/// What is told of a change that has been made. It is never refused: where the whole value is larger than
/// an answer may be, or answers have no room left, it is told without the tasks, and a warning says so.
pub(crate) async fn made<T: Serialize>(
    app: &App,
    value: &T,
    without_tasks: impl FnOnce() -> T,
) -> Response {
    if let Ok(room) = room(app).await
        && let Ok(answer) = whole(app, value, room, "")
    {
        return answer;
    }
    let why = "the tasks are left out, because the answer would be too large; ask for them a page at a \
               time: GET /api/workflow/{id}/tasks";
    with_header(one(app, &without_tasks()).await, "x-semel-warning", why)
}

/// A value that has a limit of its own, as a payload has: it is told whole, with or without room.
pub(crate) async fn one<T: Serialize>(app: &App, value: &T) -> Response {
    let text = match serde_json::to_vec(value) {
        Ok(text) => text,
        Err(error) => return ApiError::Internal(error.to_string()).into_response(),
    };
    match room_for(app, text.len() as u64).await {
        Ok(room) => held(text, room),
        Err(_) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
    }
}

fn too_large(max: u64, instead: &str) -> ApiError {
    let message = format!("the answer would be larger than {max} bytes; {instead}");
    let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, CODE, message);
    ApiError::Refused(Box::new(refusal.with("answerBytesMax", serde_json::json!(max))))
}

/// Takes no more than the limit.
struct Limited {
    text: Vec<u8>,
    max: usize,
}

impl std::io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.text.len() + bytes.len() > self.max {
            return Err(std::io::Error::other("the answer is too large"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The answer has its room until it is sent, or its client is gone.
pub(crate) fn held(text: Vec<u8>, mut room: Room) -> Response {
    room.settle(text.len() as u64);
    let body = Body::from(Bytes::from_owner(Held { text, _room: room }));
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Bytes that keep their room until they are sent.
struct Held {
    text: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stops_before_it_is_too_large_and_has_one_row_at_least() {
        let rows = |max: u64| {
            let mut rows = Rows::new(max);
            rows.fill(["aaaa", "bbbb", "cccc"]).unwrap();
            (String::from_utf8(rows.text).unwrap(), rows.is_cut)
        };
        assert_eq!(rows(100), ("[\"aaaa\",\"bbbb\",\"cccc\"".to_owned(), false));
        assert_eq!(rows(14), ("[\"aaaa\",\"bbbb\"".to_owned(), true));
        assert_eq!(rows(0), ("[\"aaaa\"".to_owned(), true));
    }

    #[test]
    fn every_group_has_its_name_also_when_nothing_fits_into_it() {
        let mut rows = Rows::groups(20);
        for name in ["a", "b", "c"] {
            rows.begin_group(name).unwrap();
            rows.fill(["1234", "5678"]).unwrap();
        }
        assert_eq!(rows.text, br#"{"a":["1234","5678"],"b":[],"c":["#);
        assert!(rows.is_cut);
    }
}
