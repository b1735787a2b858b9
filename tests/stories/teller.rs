//! # The teller: goes through a story line by line
//!
//! Knows the verbs, which run has which id, and who was handed what. Everything it says and learns
//! goes through the public API; what each answer must be depends on the story and on the telling.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::answers::{Started, expect, expect_status, standing};
use crate::house::{House, Message, Reply};
use crate::language::{Line, duration_ms};
use crate::operators::{self, Aim};
use crate::runs::{self, Runs};
use crate::telling::{Telling, Told};
use crate::workers::Workers;
use crate::{definition, listeners, showing};

pub(crate) struct Teller {
    house: House,
    telling: Telling,
    runs: Runs,
    workers: Workers,
}

impl Teller {
    pub(crate) fn new(telling: Telling, house: House) -> Self {
        Self { house, telling, runs: Runs::default(), workers: Workers::default() }
    }

    /// Tells one line.
    pub(crate) fn tell(&mut self, line: &Line) -> Result<()> {
        match line.verb.as_str() {
            "define" | "define-json" | "task-json" | "undefine" | "schema-json" | "unschema" => {
                self.define(line, definition::messages(line)?)
            }
            "listen" | "relisten" | "unlisten" => {
                self.define(line, vec![listeners::message(line)?])
            }
            "start" => self.start(line),
            "claim" => self.claim(line),
            "report" | "report-v2" => self.report(line),
            "extend" => self.extend(line),
            "name" => self.name(line),
            "child" | "started" | "failure" | "handled" => self.find(line),
            "advance" => self.house.advance(duration_ms(line.word(0, "a duration")?)?),
            "away" => {
                self.house.away(duration_ms(line.word(0, "a duration")?)?)?;
                self.house.settle()
            }
            "show" => self.show(line),
            "verify" => self.verify(line.word(0, "RUN")?).map(|_| ()),
            _ => self.operate(line),
        }
    }

    /// Everything the story has led to. What a restart would change was never true.
    pub(crate) fn end(&mut self) -> Result<BTreeMap<String, String>> {
        let before = self.endings()?;
        self.house.reopen()?;
        self.house.settle()?;
        same(&before, &self.endings()?).context("after a restart")?;
        Ok(before)
    }

    /// How each run stands, and how many entries its journal has: whoever did something twice is
    /// found out, even if it looks the same afterwards.
    fn endings(&self) -> Result<BTreeMap<String, String>> {
        let ending = |(name, id): (&String, &String)| {
            let ending = match self.look(id)? {
                Some(workflow) => {
                    let entries = self.verify(name)?;
                    format!("{}\n{entries} entries", showing::ending(&workflow))
                }
                None => "removed".to_owned(),
            };
            Ok((name.clone(), ending))
        };
        self.runs.ids().map(ending).collect()
    }

    fn deliver(&mut self, message: &Message) -> Result<Told> {
        self.telling.deliver(&mut self.house, message)
    }

    fn define(&mut self, line: &Line, messages: Vec<Message>) -> Result<()> {
        for message in messages {
            let told = self.deliver(&message)?;
            // What was defined before its answer got lost exists by now, or is gone.
            let again = if line.verb.starts_with("un") { 404 } else { 409 };
            let is_done = told.was_lost && told.reply.status == again;
            if !is_done {
                expect_status(line, &told.reply, 200)?;
            }
            if let Some(echo) = told.echo.filter(|echo| echo.status != again) {
                expect_status(line, &echo, 200).context("the echo of this definition")?;
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
        // The same request, if it is delivered again.
        let path = format!("/api/workflow?requestId=line-{}", line.number);
        let told = self.deliver(&Message::post(path, body))?;
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
        let known = answer.id.as_ref().and_then(|id| self.runs.name(id)).map(str::to_owned);
        let expected: Vec<&str> = line.expected.iter().map(String::as_str).collect();
        match expected.as_slice() {
            [] => {
                let is_new = known.is_none() && (answer.status == 200 || told.was_lost);
                ensure!(is_new, "expected a new run, got {} {}", answer.status, told.reply.body);
                let id = answer.id.context("a start without an id")?;
                self.runs.insert(name, id);
            }
            [run] if self.runs.contains(run) => {
                expect(&format!("200 {run}"), &answer.told(known))?;
            }
            _ => expect(&expected.join(" "), &answer.told(known))?,
        }
        Ok(())
    }

    fn start_body(&self, line: &Line, definition: &str) -> Result<String> {
        let mut input: Value = serde_json::from_str(line.json.as_deref().unwrap_or("{}"))?;
        self.runs.put_ids(&mut input);
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
        self.runs.name_or_id(task["workflowInstanceId"].as_str().unwrap_or_default())
    }

    fn report(&mut self, line: &Line) -> Result<()> {
        line.allow(&["reason", "callback", "signed"])?;
        let told = self.deliver(&self.workers.report(line)?)?;
        let standing = standing(&told.reply);
        let is_late = line.expected.iter().any(|word| word == "STALE" || word == "409");
        if told.was_lost && !is_late {
            // Its first delivery was taken, so this is a repeat, and the story need not say so.
            expect("REPEATED", &standing).context("after the first answer was lost")?;
        }
        if let Some(echo) = &told.echo {
            let again = if standing == "APPLIED" { "REPEATED" } else { standing.as_str() };
            expect(again, &crate::answers::standing(echo)).context("the echo of this report")?;
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
        line.allow(&["signed"])?;
        let told = self.deliver(&self.workers.extend(line)?)?;
        let expected = line.expected.first().map_or("APPLIED", String::as_str);
        expect(expected, &standing(&told.reply))?;
        told.echo.map_or(Ok(()), |echo| expect(expected, &standing(&echo)))
    }

    fn name(&mut self, line: &Line) -> Result<()> {
        line.allow(&["workerid"])?;
        let [run, step, status] = [0, 1, 2].map(|at| line.word(at, "name RUN STEP STATUS"));
        let worker = line.option("workerid").map(|name| format!("&workerid={name}"));
        let force = format!("?force={}{}", line.flag("force"), worker.unwrap_or_default());
        let path = format!("/api/tasks/{}/{}/{}{force}", self.runs.id(run?)?, step?, status?);
        let told = self.deliver(&Message::post(path, line.json.clone().unwrap_or_default()))?;
        let is_done = told.reply.status == 200 && (!told.reply.body.is_empty() || told.was_lost);
        match line.expected.first().map(String::as_str) {
            None => ensure!(is_done, "not taken: {} {}", told.reply.status, told.reply.body),
            Some(word @ ("KEPT" | "REPEATED" | "NONE")) => {
                let word = if told.was_lost && word == "KEPT" { "REPEATED" } else { word };
                expect(word, told.reply.header("x-signal").unwrap_or_default())?;
            }
            Some(_) => expect_status(line, &told.reply, 200)?,
        }
        let echo = told.echo.map_or(told.reply.status, |echo| echo.status);
        ensure!(echo == told.reply.status, "the echo is answered {echo}");
        Ok(())
    }

    fn find(&mut self, line: &Line) -> Result<()> {
        ensure!(line.word(1, "=")? == "=", "write {} NAME = RUN", line.verb);
        line.allow(&["attempt", "times", "by", "action", "event"])?;
        let mut seen_from = self.read(line.word(2, "RUN")?)?;
        // `times=3` is the child of the child of the child.
        for _ in 1..line.option("times").unwrap_or("1").parse::<usize>()? {
            let id = self.found(line, &seen_from)?;
            seen_from = self.look(&id)?.with_context(|| format!("{id} is not there any more"))?;
        }
        let id = self.found(line, &seen_from)?;
        if line.verb == "handled" {
            let is_there = self.look(&id)?.is_some();
            if line.expected.first().is_some_and(|word| word == "nothing") {
                return expect("nothing", if is_there { &id } else { "nothing" });
            }
            ensure!(is_there, "no run was begun");
        }
        self.runs.find(line, id)
    }

    fn found(&self, line: &Line, seen_from: &Value) -> Result<String> {
        if line.verb != "handled" {
            return runs::found(line, seen_from);
        }
        let id = seen_from["workflowId"].as_str().unwrap_or_default();
        let log = self.house.ask(&Message::get(format!("/api/workflow/{id}/log")))?.json()?;
        listeners::begun(line, seen_from, &log)
    }

    fn operate(&mut self, line: &Line) -> Result<()> {
        let aim = self.aim(line)?;
        let command = operators::command(line, &aim)?;
        let message = match self.telling.repeats() {
            true => command.message.keyed(format!("line-{}", line.number)),
            false => command.message,
        };
        let told = self.telling.deliver_in(&mut self.house, &message, command.commits)?;
        match line.expected.first().filter(|_| line.verb == "signal") {
            Some(word) => expect(word, told.reply.header("x-signal").unwrap_or_default())?,
            None => expect_status(line, &told.reply, command.done)?,
        }
        if line.verb == "rerun" && told.reply.status == 200 {
            expect(&aim.id, &told.reply.body)?;
        }
        told.echo.map_or(Ok(()), |echo| echoes(&told.reply, &echo))
    }

    fn aim(&self, line: &Line) -> Result<Aim> {
        let run = line.word(0, "RUN")?;
        let mut aim = Aim { id: self.runs.id(run)?.to_owned(), ..Aim::default() };
        if line.verb == "upgrade" {
            aim.definition = self.read(run)?["workflowName"].as_str().map(str::to_owned);
        }
        if let Some(step) = line.option("from") {
            let owner = self.read(line.option("in").unwrap_or(run))?;
            let task = runs::task(&owner, step, None)?;
            aim.from = task["taskId"].as_str().map(str::to_owned);
        }
        Ok(aim)
    }

    /// The run of that name as clients see it.
    fn read(&self, name: &str) -> Result<Value> {
        self.look(self.runs.id(name)?)?.with_context(|| format!("{name} is not there any more"))
    }

    fn look(&self, id: &str) -> Result<Option<Value>> {
        let reply = self.house.ask(&Message::get(format!("/api/workflow/{id}")))?;
        match reply.status {
            200 => reply.json().map(Some),
            404 => Ok(None),
            status => bail!("reading {id}: {status} {}", reply.body),
        }
    }

    fn show(&self, line: &Line) -> Result<()> {
        let name = line.word(0, "RUN")?;
        let Some(workflow) = self.look(self.runs.id(name)?)? else {
            return expect(&line.shown.join("\n  "), "removed");
        };
        let expected: Vec<String> = line.shown.iter().map(|line| showing::normal(line)).collect();
        let actual = showing::lines(&workflow, &expected, &self.runs)?;
        expect(&expected.join("\n  "), &actual.join("\n  "))
    }

    /// Its journal holds; how many entries that has.
    fn verify(&self, name: &str) -> Result<u64> {
        let id = self.runs.id(name)?;
        let reply = self.house.ask(&Message::post(format!("/api/workflow/{id}/verify"), ""))?;
        ensure!(reply.status == 200, "{name} does not verify: {}", reply.body);
        reply.json()?["entries"].as_u64().context("a verdict counts entries")
    }
}

/// Under one key the same is said again, unless nothing had been decided.
fn echoes(first: &Reply, echo: &Reply) -> Result<()> {
    let said = |reply: &Reply| format!("{} {}", reply.status, reply.body);
    expect(&said(first), &said(echo)).context("the echo")?;
    let finds_no_place = first.status == 409 && first.body.contains("CONCURRENCY_LIMIT");
    let does_not_fit = first.status == 409 && first.body.contains("docs/trouble.md#wrong-state");
    let did_nothing = finds_no_place || does_not_fit || first.header("x-signal") == Some("NONE");
    let is_decided = !did_nothing && !matches!(first.status, 400 | 404 | 429);
    let again = if is_decided { "true" } else { "false" };
    expect(again, echo.header("idempotent-replayed").unwrap_or("nothing")).context("the echo")
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
