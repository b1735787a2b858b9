//! # Operators: what people do to runs
//!
//! Their commands have no name of their own. Sent twice, or sent again because the answer got lost,
//! they carry one `Idempotency-Key`, and the same is said again.
//!
//! ```text
//! pause RUN                 resume RUN               terminate RUN [compensate] reason=WORDS
//! retry RUN [resume] [unless-superseded] [redo]      restart RUN [latest] [redo]
//! rerun RUN [redo] [from=STEP [in=CHILD] task-input={..}] [input={..}]
//! skip RUN STEP [{OUTPUT}] [input={..}]              jump RUN STEP [{INPUT}]
//! upgrade RUN version=2 [input={..}] [output={STEP: {..}}]
//! variables RUN {..}        reset-callbacks RUN      decide RUN
//! resolve RUN scope=.. key=.. [applied] [{OUTPUT}]   says whether an effect has happened
//! post RUN id=NAME {..}     a message for whichever task pulls it
//! signal RUN STATUS [{..}] [-> KEPT]                 answers whichever WAIT comes first
//! remove RUN [running]      terminate-remove RUN reason=WORDS
//! ```

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use crate::house::Message;
use crate::language::Line;

/// A command, and how it is answered when it is done.
pub(crate) struct Command {
    pub(crate) message: Message,
    pub(crate) done: u16,
    /// How many commits it takes.
    pub(crate) commits: usize,
}

impl Command {
    fn new(message: Message, done: u16) -> Self {
        Self { message, done, commits: 1 }
    }
}

/// What a command is about.
#[derive(Default)]
pub(crate) struct Aim {
    pub(crate) id: String,
    /// The name of its definition, for an upgrade.
    pub(crate) definition: Option<String>,
    /// The task a rerun begins at.
    pub(crate) from: Option<String>,
}

/// The command of a line.
pub(crate) fn command(line: &Line, aim: &Aim) -> Result<Command> {
    line.allow(options(&line.verb))?;
    let id = &aim.id;
    let run = format!("/api/workflow/{id}");
    let post = |path: &str, body: String| Message::post(format!("{run}/{path}"), body);
    let command = match line.verb.as_str() {
        "terminate" => {
            let compensate = line.flag("compensate").then_some("triggerFailureWorkflow=true");
            let query = [reason(line), compensate.map(str::to_owned)];
            Command::new(Message::delete(run.clone() + &joined(query)), 200)
        }
        "pause" => Command::new(Message::put(format!("{run}/pause"), ""), 200),
        "resume" => Command::new(Message::put(format!("{run}/resume"), ""), 200),
        "retry" => {
            let resume = line.flag("resume").then_some("resumeSubworkflowTasks=true");
            let unless = line.flag("unless-superseded").then_some("retryIfRetriedByParent=false");
            let redo = line.flag("redo").then_some("redoEffects=true");
            let query = joined([resume, unless, redo].map(|it| it.map(str::to_owned)));
            Command::new(post(&format!("retry{query}"), String::new()), 204)
        }
        "restart" => {
            let latest = line.flag("latest").then(|| "useLatestDefinitions=true".to_owned());
            let redo = line.flag("redo").then(|| "redoEffects=true".to_owned());
            let path = format!("restart{}", joined([latest, redo]));
            Command::new(post(&path, String::new()), 204)
        }
        "rerun" => Command::new(post("rerun", rerun(line, aim)?), 200),
        "skip" => {
            let step = line.word(1, "a step")?;
            let body = object([("taskInput", given(line)?), ("taskOutput", json(line)?)]);
            Command::new(Message::put(format!("{run}/skiptask/{step}"), body), 200)
        }
        "jump" => {
            let path = format!("jump/{}", line.word(1, "a step")?);
            Command::new(post(&path, line.json.clone().unwrap_or_default()), 200)
        }
        "upgrade" => Command::new(post("upgrade", upgrade(line, aim)?), 200),
        "variables" => Command::new(post("variables", line.json.clone().unwrap_or_default()), 200),
        "resolve" => resolve(line)?,
        "post" => {
            let id = line.option("id").map(|id| format!("messageId={id}"));
            let path = format!("messages{}", joined([id]));
            Command::new(post(&path, line.json.clone().unwrap_or_default()), 200)
        }
        "reset-callbacks" => Command::new(post("resetcallbacks", String::new()), 204),
        "decide" => Command::new(Message::put(format!("/api/workflow/decide/{id}"), ""), 200),
        "signal" => {
            let path = format!("/api/tasks/{id}/{}/signal", line.word(1, "a status")?);
            Command::new(Message::post(path, line.json.clone().unwrap_or_default()), 200)
        }
        "remove" => {
            let running = line.flag("running").then(|| "archiveWorkflow=false".to_owned());
            let path = format!("{run}/remove{}", joined([running]));
            Command::new(Message::delete(path), 200)
        }
        "terminate-remove" => {
            let path = format!("{run}/terminate-remove{}", joined([reason(line)]));
            // First it ends, then it goes.
            Command { commits: 2, ..Command::new(Message::delete(path), 200) }
        }
        verb => bail!("{verb} is no verb"),
    };
    Ok(command)
}

fn resolve(line: &Line) -> Result<Command> {
    let part = |name: &str| line.option(name).unwrap_or_default().replace('/', "%2F");
    let path = format!("/api/effects/{}/{}/resolve", part("scope"), part("key"));
    let applied = Some(Value::from(line.flag("applied")));
    let body = object([("applied", applied), ("output", json(line)?)]);
    Ok(Command::new(Message::post(path, body), 200))
}

fn options(verb: &str) -> &'static [&'static str] {
    match verb {
        "terminate" | "terminate-remove" => &["reason"],
        "rerun" => &["from", "in", "input", "task-input", "correlation"],
        "skip" => &["input"],
        "resolve" => &["scope", "key"],
        "post" => &["id"],
        "upgrade" => &["name", "version", "input", "output"],
        _ => &[],
    }
}

fn reason(line: &Line) -> Option<String> {
    line.option("reason").map(|text| format!("reason={}", text.replace(' ', "%20")))
}

fn joined<const N: usize>(query: [Option<String>; N]) -> String {
    let query: Vec<String> = query.into_iter().flatten().collect();
    if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) }
}

fn rerun(line: &Line, aim: &Aim) -> Result<String> {
    Ok(object([
        ("reRunFromTaskId", aim.from.clone().map(Value::from)),
        ("taskInput", parsed(line.option("task-input"))?),
        ("workflowInput", given(line)?),
        ("correlationId", line.option("correlation").map(Value::from)),
        ("redoEffects", line.flag("redo").then(|| Value::from(true))),
    ]))
}

fn upgrade(line: &Line, aim: &Aim) -> Result<String> {
    let version = line.option("version").map(str::parse::<i32>).transpose()?;
    let name = line.option("name").map(str::to_owned).or_else(|| aim.definition.clone());
    Ok(object([
        ("name", name.map(Value::from)),
        ("version", version.map(Value::from)),
        ("workflowInput", given(line)?),
        ("taskOutput", parsed(line.option("output"))?),
    ]))
}

fn given(line: &Line) -> Result<Option<Value>> {
    parsed(line.option("input"))
}

fn json(line: &Line) -> Result<Option<Value>> {
    parsed(line.json.as_deref())
}

fn parsed(text: Option<&str>) -> Result<Option<Value>> {
    Ok(text.map(serde_json::from_str).transpose()?)
}

fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> String {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    json!(fields.collect::<Map<_, _>>()).to_string()
}
