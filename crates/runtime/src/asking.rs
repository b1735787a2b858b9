//! # Asking: open questions find their answers, and callers wait for those of scripts
//!
//! A question is asked after the commit that wrote it, and its answer is an event like any other.
//! Scripts are run elsewhere and may take their time; a caller whose request led to one is answered
//! when it and all that follow from it have spoken, or when it has waited long enough.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use secrecy::ExposeSecret as _;
use semel_engine::{
    Answer as Said, Asked, Event, Language, Question, Script, Verdict, is_unfinished,
    mentions_secrets, reveal,
};
use semel_model::{Digest, ExecutionId, Payload, TaskId};

use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::lane::{Lane, timer};
use crate::outside;
use crate::work::{Answer, EventWork, Item, Reply, Work};
use crate::world::World;

/// How long a caller waits for the scripts its request led to.
const REPLY_WAIT: Duration = Duration::from_secs(2);

/// Whoever runs scripts.
pub trait Scripts: Send + Sync {
    /// Says what the script said, at once or later, on any thread.
    fn ask(&self, script: Script, reply: Box<dyn FnOnce(Verdict) + Send>);

    /// Whether the kernel refuses scripts files and network. None: it is not known yet.
    fn are_sealed(&self) -> Option<bool> {
        None
    }
}

/// Where no scripts can be run.
pub struct NoScripts;

impl Scripts for NoScripts {
    fn ask(&self, _: Script, reply: Box<dyn FnOnce(Verdict) + Send>) {
        reply(Verdict::Failed("no scripts can be run here".to_owned()));
    }
}

/// Names one question.
type Name = (ExecutionId, TaskId, Digest);

/// Scripts that are being run, so that nobody asks them twice.
#[derive(Default)]
pub(crate) struct Asking(Mutex<BTreeSet<Name>>);

impl Asking {
    /// False: it is being asked already.
    fn begin(&self, name: Name) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name)
    }

    fn end(&self, name: &Name) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

/// Callers who wait for scripts, by the run they asked about.
#[derive(Default)]
pub(crate) struct Held(BTreeMap<ExecutionId, Callers>);

#[derive(Default)]
struct Callers {
    open: BTreeSet<(TaskId, Digest)>,
    replies: Vec<(Reply, Result<Answer, Failure>, Instant)>,
}

impl Held {
    /// Keeps an answer back if its run has scripts to wait for.
    fn keep(&mut self, item: Item, answer: Result<Answer, Failure>) {
        let run = match (&answer, item.work.execution()) {
            (Ok(Answer::Started { id, .. }), _) => Some(*id),
            (Ok(Answer::Done { next: None, .. }), Some(id)) => Some(id),
            _ => None,
        };
        match run.and_then(|id| self.0.get_mut(&id)).filter(|it| !it.open.is_empty()) {
            Some(callers) => callers.replies.push((item.reply, answer, Instant::now())),
            None => (item.reply)(answer),
        }
    }

    fn opened(&mut self, (id, task, question): Name) {
        self.0.entry(id).or_default().open.insert((task, question));
    }

    /// One script has spoken. What follows from it is opened before.
    fn answered(&mut self, id: ExecutionId, task: TaskId, question: Digest) {
        let Some(callers) = self.0.get_mut(&id) else { return };
        callers.open.remove(&(task, question));
        if callers.open.is_empty() {
            self.release(id);
        }
    }

    /// Lets those go who have waited long enough.
    pub(crate) fn release_late(&mut self) {
        let is_late = |callers: &Callers| {
            let first = callers.replies.first();
            first.is_some_and(|(_, _, since)| since.elapsed() >= REPLY_WAIT)
        };
        let late: Vec<ExecutionId> =
            self.0.iter().filter(|(_, it)| is_late(it)).map(|(id, _)| *id).collect();
        late.into_iter().for_each(|id| self.release(id));
    }

    /// When somebody will have waited long enough.
    pub(crate) fn next_release(&self) -> Option<Duration> {
        let since = self.0.values().filter_map(|it| it.replies.first());
        since.map(|(_, _, since)| REPLY_WAIT.saturating_sub(since.elapsed())).min()
    }

    fn release(&mut self, id: ExecutionId) {
        for (reply, answer, _) in self.0.remove(&id).into_iter().flat_map(|it| it.replies) {
            reply(answer);
        }
    }
}

/// What became of a question.
enum Told {
    /// Its answer is at hand.
    Answered(Box<Item>),
    /// It will come to the inbox.
    Later,
}

/// Asks one open question.
fn ask(
    world: &Arc<World>,
    inbox: &Arc<Inbox>,
    held: &mut Held,
    id: ExecutionId,
    task: TaskId,
    asked: &Asked,
) -> Told {
    let question = asked.digest(task);
    match &asked.question {
        Question::ActiveDomains { task_type, domains } => {
            let answer = world.active_domains(task_type, domains, world.store.now());
            Told::Answered(Box::new(timer(id, Event::Answered { task, question, answer })))
        }
        Question::Script { language, source } => {
            let name = (id, task, question);
            // The answer comes to whoever asks: only there it can be waited for.
            if world.asking.begin(name) && run(world, inbox, name, asked, *language, source) {
                held.opened(name);
            }
            Told::Later
        }
    }
}

/// False: nobody will answer.
fn run(
    world: &Arc<World>,
    inbox: &Arc<Inbox>,
    name: Name,
    asked: &Asked,
    language: Language,
    source: &str,
) -> bool {
    let (id, task, question) = name;
    let stored = asked.input.clone();
    let input = match world.revealed(&stored) {
        Ok(input) => input,
        Err(failure) => {
            tracing::error!(%failure, execution = %id, "a script's secrets cannot be read");
            world.asking.end(&name); // Asked again when it is due.
            return false;
        }
    };
    let source = source.to_owned();
    let script = Script { language, source, input, now: asked.asked_at, seed: task };
    inbox.lend();
    let (inbox, world_) = (Arc::clone(inbox), Arc::clone(world));
    let reply = move |verdict: Verdict| {
        world_.asking.end(&name);
        let item = match world_.masked(&stored, verdict).map(outside::disarm_verdict) {
            Ok(verdict) => Some(answer(id, task, question, verdict)),
            Err(failure) => {
                tracing::error!(%failure, execution = %id, "a script's secrets cannot be hidden");
                None
            }
        };
        inbox.take_back(item);
    };
    world.scripts.ask(script, Box::new(reply));
    true
}

fn answer(id: ExecutionId, task: TaskId, question: Digest, verdict: Verdict) -> Item {
    let (said, payloads) = match verdict {
        Verdict::Value(value) => (semel_engine::Said::Value(semel_engine::Slot(0)), vec![value]),
        Verdict::Failed(reason) => (semel_engine::Said::Failed(reason), vec![]),
        Verdict::Exhausted(reason) => (semel_engine::Said::Exhausted(reason), vec![]),
    };
    let event = Event::Answered { task, question, answer: Said::Script(said) };
    let work = EventWork { payloads, ..EventWork::own(id, event) };
    Item::unasked(Work::Event(Box::new(work)))
}

impl Lane {
    pub(crate) fn ask_all(&mut self, asked: Vec<(ExecutionId, TaskId, Asked)>) {
        for (id, task, open) in asked {
            match ask(&self.world, &self.inbox, &mut self.held, id, task, &open) {
                Told::Answered(item) => self.again.push_back(*item),
                Told::Later => {}
            }
        }
    }

    pub(crate) fn reply(&mut self, mut item: Item, answer: Result<Answer, Failure>) {
        item.credit = None;
        let heard = match &item.work {
            Work::Event(work) => match work.event {
                Event::Answered { task, question, .. } => Some((work.execution, task, question)),
                _ => None,
            },
            _ => None,
        };
        self.held.keep(item, answer);
        if let Some((id, task, question)) = heard {
            self.held.answered(id, task, question);
        }
    }
}

impl World {
    /// A script sees secrets as a worker would.
    fn revealed(&self, input: &Payload) -> Result<Payload, Failure> {
        if !is_unfinished(input) {
            return Ok(input.clone());
        }
        let mut failure = None;
        let revealed = reveal(input, None, &mut |name| match self.secrets.value(name) {
            Ok(value) => value.map(|value| value.expose_secret().to_owned()),
            Err(error) => {
                failure.get_or_insert(error);
                None
            }
        });
        failure.map_or(Ok(revealed), Err)
    }

    /// And what it says of them is hidden as what a worker says.
    fn masked(&self, input: &Payload, verdict: Verdict) -> Result<Verdict, Failure> {
        if !mentions_secrets(input) {
            return Ok(verdict);
        }
        let mask = self.mask(input, &[])?;
        let text = |text: String| mask.text(&text).unwrap_or(text);
        Ok(match verdict {
            Verdict::Value(value) => Verdict::Value(mask.payload(&value).unwrap_or(value)),
            Verdict::Failed(reason) => Verdict::Failed(text(reason)),
            Verdict::Exhausted(reason) => Verdict::Exhausted(text(reason)),
        })
    }
}
