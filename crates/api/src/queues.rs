//! # Queues: how much waits, and who asked for it (docs/compatibility.md#tasks)

use std::collections::BTreeMap;

use axum::extract::State;
use semel_engine::Queue;
use semel_model::{Payload, PollData};
use semel_runtime::World;
use serde_json::json as value;

use crate::answer::{Answered, json};
use crate::app::App;
use crate::endpoint::Value::{Text, Texts};
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::params::Params;
use crate::roles::READ;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/tasks/queue/sizes", READ, sizes)
            .about("How many tasks of each type wait")
            .query("taskType", Texts)
            .gives::<BTreeMap<String, usize>>(),
        get("/api/tasks/queue/size", READ, size)
            .about("How many tasks wait in a queue")
            .query("taskType", Text)
            .query("domain", Text)
            .gives::<usize>(),
        get("/api/tasks/queue/all", READ, everything)
            .about("How many tasks wait in every queue")
            .gives::<BTreeMap<String, usize>>(),
        get("/api/tasks/queue/all/verbose", READ, verbose)
            .about("How many tasks wait in every queue, by shard")
            .gives::<BTreeMap<String, Payload>>(),
        get("/api/tasks/queue/polldata", READ, poll_data)
            .about("Who polled for a task type last, per domain")
            .query("taskType", Text)
            .gives::<Vec<PollData>>(),
        get("/api/tasks/queue/polldata/all", READ, all_poll_data)
            .about("Who polled last, per task type and domain")
            .gives::<Vec<PollData>>(),
    ]
}

fn wanted(params: &Params) -> Result<String, ApiError> {
    let missing = || ApiError::Malformed("taskType is missing: name the task type".to_owned());
    params.text("taskType").map(str::to_owned).ok_or_else(missing)
}

/// Off the threads that serve: the store may be busy with a commit.
pub(crate) async fn waiting(app: &App) -> Result<BTreeMap<Queue, usize>, ApiError> {
    Ok(app.runtime.blocking(|world: &World| world.waiting()).await?)
}

/// `GET /api/tasks/queue/sizes`: of each type that is named, over all its domains.
async fn sizes(State(app): State<App>, params: Params) -> Answered {
    let waiting = waiting(&app).await?;
    let size = |task_type: &str| -> usize {
        let of_type = waiting.iter().filter(|(queue, _)| queue.task_type == task_type);
        of_type.map(|(_, count)| count).sum()
    };
    let sizes = params.texts("taskType").map(|name| (name.to_owned(), size(name)));
    Ok(json(&sizes.collect::<BTreeMap<_, _>>()))
}

/// `GET /api/tasks/queue/size`.
async fn size(State(app): State<App>, params: Params) -> Answered {
    let domain = params.text("domain").map(str::to_owned);
    let queue = Queue { task_type: wanted(&params)?, domain };
    Ok(json(&waiting(&app).await?.get(&queue).copied().unwrap_or(0)))
}

/// `GET /api/tasks/queue/all`.
async fn everything(State(app): State<App>) -> Answered {
    let all = waiting(&app).await?;
    Ok(json(
        &all.iter().map(|(queue, count)| (queue.to_string(), count)).collect::<BTreeMap<_, _>>(),
    ))
}

/// `GET /api/tasks/queue/all/verbose`: in the shape of a queue with one shard.
async fn verbose(State(app): State<App>) -> Answered {
    let all = waiting(&app).await?;
    let shard = |count: &usize| value!({"a": {"size": count, "uacked": 0}});
    let all = all.iter().map(|(queue, count)| (queue.to_string(), shard(count)));
    Ok(json(&all.collect::<BTreeMap<_, _>>()))
}

/// `GET /api/tasks/queue/polldata`: one line per domain.
async fn poll_data(State(app): State<App>, params: Params) -> Answered {
    let task_type = wanted(&params)?;
    let all = app.runtime.world().poll_data();
    Ok(json(&all.into_iter().filter(|data| data.queue_name == task_type).collect::<Vec<_>>()))
}

/// `GET /api/tasks/queue/polldata/all`.
async fn all_poll_data(State(app): State<App>) -> Answered {
    Ok(json(&app.runtime.world().poll_data()))
}
