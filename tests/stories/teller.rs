//! # The teller: goes through a story line by line
//!
//! Knows the verbs, which run has which id, and who was handed what. Everything it says and learns
//! goes through the public API; what each answer must be depends on the story and on the telling.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::house::{House, Message, Reply};
use crate::language::{Line, duration_ms};
use crate::telling::{Telling, Told};
use crate::workers::Workers;
use crate::{definition, showing};

pub(crate) struct Teller {
    house: House,
    telling: Telling,
    runs: BTreeMap<String, String>,
    workers: Workers,
}

impl Teller {
    pub(crate) fn new(telling: Telling, house: House) -> Self {
        Self { house, telling, runs: BTreeMap::new(), workers: Workers::default() }
    }

    /// Tells one line.
    pub(crate) fn tell(&mut self, line: &Line) -> Result<()> {
        match line.verb.as_str() {
            "define" | "define-json" | "task-json" => self.define(line),
            "start" => self.start(line),
            "claim" => self.claim(line),
            "report" | "report-v2" => self.report(line),
            "extend" => self.extend(line),
            "name" => self.name(line),
            "pause" | "resume" | "terminate" => self.operate(line),
            "advance" => self.house.advance(duration_ms(line.word(0, "a duration")?)?),
            "away" => {
                self.house.away(duration_ms(line.word(0, "a duration")?)?)?;
                self.house.settle()
            }
            "show" => self.show(line),
            "verify" => self.verify(self.run(line.word(0, "RUN")?)?),
            verb => bail!("{verb} is no verb"),
        }
    }

    /// Everything the story has led to. What a restart would change was never true.
    pub(crate) fn end(&mut self) -> Result<BTreeMap<String, String>> {
        let ids: Vec<String> = self.runs.values().cloned().collect();
        ids.iter().try_for_each(|id| self.verify(id))?;
        let before = self.endings()?;
        self.house.reopen()?;
        self.house.settle()?;
        same(&before, &self.endings()?).context("after a restart")?;
        Ok(before)
    }

    fn endings(&self) -> Result<BTreeMap<String, String>> {
        let ending =
            |(name, id): (&String, &String)| Ok((name.clone(), showing::ending(&self.read(id)?)));
        self.runs.iter().map(ending).collect()
    }

    fn deliver(&mut self, message: &Message) -> Result<Told> {
        self.telling.deliver(&mut self.house, message)
    }

    fn run(&self, name: &str) -> Result<&str> {
        self.runs.get(name).map(String::as_str).with_context(|| format!("no run is called {name}"))
    }

    /// What the story calls the run of this id.
    fn name_of(&self, id: &str) -> String {
        let found = self.runs.iter().find(|(_, known)| *known == id);
        found.map_or_else(|| id.to_owned(), |(name, _)| name.clone())
    }

    fn define(&mut self, line: &Line) -> Result<()> {
        for message in definition::messages(line)? {
            let told = self.deliver(&message)?;
            // What was defined before its answer got lost exists by now.
            let exists = told.was_lost && told.reply.status == 409;
            if !exists {
                expect_status(line, &told.reply)?;
            }
            if let Some(echo) = told.echo.filter(|echo| echo.status != 409) {
                expect_status(line, &echo).context("the echo of this definition")?;
            }
        }
        Ok(())
    }

    fn start(&mut self, line: &Line) -> Result<()> {
        line.allow(&["key", "strategy", "priority", "domain", "version"])?;
        let [name, equals, definition] = line.words.as_slice() else {
            bail!("write start RUN = DEFINITION");
        };
        ensure!(equals == "=", "write start RUN = DEFINITION");
        let body = self.start_body(line, definition)?;
        let told = self.deliver(&Message::post("/api/workflow", body))?;
        let answer = Started::of(&told.reply)?;
        if let Some(echo) = &told.echo {
            let echo = Started::of(echo)?;
            let same = echo.id == answer.id;
            ensure!(
                same,
                "the echo of this start speaks of run {:?}, not {:?}",
                echo.id,
                answer.id
            );
        }
        let known = answer.id.as_ref().map(|id| self.name_of(id));
        let known = known.filter(|name| self.runs.contains_key(name));
        let expected: Vec<&str> = line.expected.iter().map(String::as_str).collect();
        match expected.as_slice() {
            [] => {
                let is_new = known.is_none() && (answer.status == 200 || told.was_lost);
                ensure!(is_new, "expected a new run, got {} {}", answer.status, told.reply.body);
                let id = answer.id.context("a start without an id")?;
                self.runs.insert(name.clone(), id);
            }
            [run] if self.runs.contains_key(*run) => {
                expect(&format!("200 {run}"), &answer.told(known))?;
            }
            _ => expect(&expected.join(" "), &answer.told(known))?,
        }
        Ok(())
    }

    fn start_body(&self, line: &Line, definition: &str) -> Result<String> {
        let input: Value = serde_json::from_str(line.json.as_deref().unwrap_or("{}"))?;
        let mut body = Map::new();
        body.insert("name".to_owned(), json!(definition));
        body.insert("input".to_owned(), input);
        let mut put = |field: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(field.to_owned(), value);
            }
        };
        put("idempotencyStrategy", line.option("strategy").map(Value::from));
        put("idempotencyKey", line.option("key").map(Value::from));
        put("version", number(line, "version")?);
        put("priority", number(line, "priority")?);
        put("taskToDomain", line.option("domain").map(domains));
        if line.option("key").is_none() && self.telling.repeats() {
            put("idempotencyKey", Some(json!(format!("line {}", line.number))));
            put("idempotencyStrategy", Some(json!("RETURN_EXISTING")));
        }
        Ok(Value::Object(body).to_string())
    }

    fn claim(&mut self, line: &Line) -> Result<()> {
        line.allow(&["domain", "count"])?;
        let (count, message) = self.workers.poll(line, self.telling.repeats())?;
        let told = self.deliver(&message)?;
        ensure!(told.reply.status == 200, "{}: {}", told.reply.status, told.reply.body);
        let list = told.reply.json()?;
        if let Some(echo) = &told.echo {
            ensure!(echo.json()? == list, "the echo of this poll is answered {}", echo.body);
        }
        let tasks = list.as_array().context("a batch poll answers a list")?;
        let runs: Vec<String> = tasks.iter().map(|task| self.run_of(task)).collect();
        match line.expected.as_slice() {
            [] => ensure!(tasks.len() == count, "expected {count} tasks, got {runs:?}"),
            [nothing] if nothing == "nothing" => expect("", &runs.join(" "))?,
            expected => expect(&expected.join(" "), &runs.join(" "))?,
        }
        tasks.iter().zip(runs).for_each(|(task, run)| self.workers.hand_out(task, run));
        Ok(())
    }

    fn run_of(&self, task: &Value) -> String {
        self.name_of(task["workflowInstanceId"].as_str().unwrap_or_default())
    }

    fn report(&mut self, line: &Line) -> Result<()> {
        line.allow(&["reason", "callback"])?;
        let told = self.deliver(&self.workers.report(line)?)?;
        let standing = standing(&told.reply);
        if told.was_lost {
            // Its first delivery was taken, so this is a repeat, and the story need not say so.
            expect("REPEATED", &standing).context("after the first answer was lost")?;
        }
        if let Some(echo) = &told.echo {
            let again = if standing == "APPLIED" { "REPEATED" } else { standing.as_str() };
            expect(again, &self::standing(echo)).context("the echo of this report")?;
            ensure!(echo.body == told.reply.body, "the echo of this report gives {}", echo.body);
        }
        let next = next_of(line, &told.reply)?;
        let mut expected = line.expected.iter().map(String::as_str);
        while let Some(word) = expected.next() {
            match word {
                "NEXT" => {
                    let run = next.as_ref().map_or("nothing".to_owned(), |task| self.run_of(task));
                    expect(expected.next().context("NEXT what?")?, &run)?;
                }
                "APPLIED" if told.was_lost => {}
                word => expect(word, &standing)?,
            }
        }
        if let Some(task) = next {
            let run = self.run_of(&task);
            self.workers.hand_out(&task, run);
        }
        Ok(())
    }

    fn extend(&mut self, line: &Line) -> Result<()> {
        line.allow(&[])?;
        let told = self.deliver(&self.workers.extend(line)?)?;
        let expected = line.expected.first().map_or("APPLIED", String::as_str);
        expect(expected, &standing(&told.reply))?;
        told.echo.map_or(Ok(()), |echo| expect(expected, &standing(&echo)))
    }

    fn name(&mut self, line: &Line) -> Result<()> {
        line.allow(&[])?;
        let [run, step, status] = [0, 1, 2].map(|at| line.word(at, "name RUN STEP STATUS"));
        let force = if line.flag("force") { "?force=true" } else { "" };
        let path = format!("/api/tasks/{}/{}/{}{force}", self.run(run?)?, step?, status?);
        let told = self.deliver(&Message::post(path, line.json.clone().unwrap_or_default()))?;
        let is_done = told.reply.status == 200 && (!told.reply.body.is_empty() || told.was_lost);
        match line.expected.first().map(String::as_str) {
            None => ensure!(is_done, "not taken: {} {}", told.reply.status, told.reply.body),
            Some("nothing") => {
                expect("200 ", &format!("{} {}", told.reply.status, told.reply.body))?
            }
            Some(_) => expect_status(line, &told.reply)?,
        }
        let echo = told.echo.map_or(told.reply.status, |echo| echo.status);
        ensure!(echo == told.reply.status, "the echo is answered {echo}");
        Ok(())
    }

    fn operate(&mut self, line: &Line) -> Result<()> {
        line.allow(&["reason"])?;
        let id = self.run(line.word(0, "RUN")?)?;
        let message = match line.verb.as_str() {
            "terminate" => {
                let reason = line.option("reason").map(|text| text.replace(' ', "%20"));
                let query = reason.map_or(String::new(), |reason| format!("?reason={reason}"));
                Message::delete(format!("/api/workflow/{id}{query}"))
            }
            verb => Message::put(format!("/api/workflow/{id}/{verb}")),
        };
        let told = self.deliver(&message)?;
        // Only a paused run can be resumed, so the repeat of what was done is refused.
        let may_be_refused = |reply: &Reply| line.verb == "resume" && reply.status == 409;
        if !(told.was_lost && may_be_refused(&told.reply)) {
            expect_status(line, &told.reply)?;
        }
        match told.echo {
            Some(echo) if !may_be_refused(&echo) => expect_status(line, &echo).context("the echo"),
            _ => Ok(()),
        }
    }

    fn read(&self, id: &str) -> Result<Value> {
        let reply = self.house.ask(&Message::get(format!("/api/workflow/{id}")))?;
        ensure!(reply.status == 200, "reading {id}: {} {}", reply.status, reply.body);
        reply.json()
    }

    fn show(&self, line: &Line) -> Result<()> {
        let workflow = self.read(self.run(line.word(0, "RUN")?)?)?;
        let expected: Vec<String> = line.shown.iter().map(|line| showing::normal(line)).collect();
        let actual = showing::lines(&workflow, &expected)?;
        expect(&expected.join("\n  "), &actual.join("\n  "))
    }

    fn verify(&self, id: &str) -> Result<()> {
        let reply = self.house.ask(&Message::post(format!("/api/workflow/{id}/verify"), ""))?;
        ensure!(reply.status == 200, "{} does not verify: {}", self.name_of(id), reply.body);
        Ok(())
    }
}

/// Two tellings end the same, run by run.
pub(crate) fn same(
    expected: &BTreeMap<String, String>,
    actual: &BTreeMap<String, String>,
) -> Result<()> {
    let none = String::new();
    for name in expected.keys().chain(actual.keys()) {
        let (expected, actual) = (expected.get(name), actual.get(name));
        let difference = showing::difference(expected.unwrap_or(&none), actual.unwrap_or(&none));
        ensure!(difference.is_none(), "{name} differs: {}", difference.unwrap_or_default());
    }
    Ok(())
}

/// The answer to a start: the run it made, or the one in its way.
struct Started {
    status: u16,
    id: Option<String>,
}

impl Started {
    fn of(reply: &Reply) -> Result<Self> {
        let id = match reply.status {
            200 => Some(reply.body.clone()),
            409 => {
                let found = &reply.json()?["metadata"]["existingWorkflowId"];
                Some(found.as_str().context("a conflict names the run in the way")?.to_owned())
            }
            _ => None,
        };
        Ok(Self { status: reply.status, id })
    }

    fn told(&self, known: Option<String>) -> String {
        let name = known.or_else(|| self.id.clone());
        name.map_or(self.status.to_string(), |name| format!("{} {name}", self.status))
    }
}

/// What became of a report: the word of its header, or its status when that is no success.
fn standing(reply: &Reply) -> String {
    match reply.status {
        200 | 204 => reply.header("x-task-update").unwrap_or("APPLIED").to_owned(),
        status => status.to_string(),
    }
}

fn next_of(line: &Line, reply: &Reply) -> Result<Option<Value>> {
    let is_task = line.verb == "report-v2" && reply.status == 200;
    is_task.then(|| reply.json()).transpose()
}

fn domains(list: &str) -> Value {
    let (task, list) = list.split_once(':').unwrap_or(("*", list));
    json!({ task: list })
}

fn number(line: &Line, option: &str) -> Result<Option<Value>> {
    let number = line.option(option).map(str::parse::<i64>).transpose();
    Ok(number.with_context(|| format!("{option} is no number"))?.map(Value::from))
}

fn expect(expected: &str, actual: &str) -> Result<()> {
    ensure!(expected == actual, "\n  expected:\n  {expected}\n  actual:\n  {actual}");
    Ok(())
}

fn expect_status(line: &Line, reply: &Reply) -> Result<()> {
    let expected = line.expected.first().map_or("200", String::as_str);
    let actual = reply.status.to_string();
    ensure!(expected == actual, "expected {expected}, got {actual}: {}", reply.body);
    Ok(())
}
