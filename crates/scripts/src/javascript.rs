//! # JavaScript: QuickJS, a fresh one for every script
//!
//! Nothing is shared between two scripts but this code. Steps, memory and stack are counted by the
//! engine; the clock is told, the dice are seeded. **May not:** give a script anything that reaches
//! out: no modules, no timers, no input or output.

mod complaint;
mod conversion;

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{Context, Ctx, Function, Object, Runtime, Value};
use semel_engine::{Language, Script, Verdict};
use semel_model::{Digest, Payload, TaskId};

use crate::budget::Budget;
use crate::reason;
use crate::result_text::ResultText;
use conversion::Conversion;

/// The language without clocks, weak references and whatever else differs from run to run.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

const PRELUDE: &str = include_str!("javascript/prelude.js");
const JAVA: &str = include_str!("javascript/java.js");

/// Methods of Java's maps and lists that scripts call on their input.
const JAVA_CALLS: &[&str] = &[".size(", ".get(", ".isEmpty(", ".contains(", ".containsKey("];

/// How a script is called in the stack of an error.
const FILE_NAME: &str = "script";

pub(crate) fn run(script: &Script, budget: &Budget) -> Result<Payload, Verdict> {
    let ticks = Ticks::new(budget.ticks_max);
    let no_room = |_| reason::out_of_memory(budget);
    let runtime = Runtime::new().map_err(no_room)?;
    runtime.set_memory_limit(budget.memory_bytes_max);
    runtime.set_max_stack_size(budget.stack_bytes_max);
    let counted = ticks.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || counted.is_spent_by_one_more())));
    let context = Context::custom::<Intrinsics>(&runtime).map_err(no_room)?;
    let outcome = context.with(|ctx| {
        let thrown = |stop| match stop {
            Stop::Thrown(error) => complaint::verdict(&ctx, error, budget),
            Stop::Refused(verdict) => verdict,
        };
        evaluate(&ctx, script, budget, &ticks).map_err(thrown)
    });
    // A script may swallow what stopped it, in a promise for example; it is over all the same.
    if ticks.are_spent() { Err(reason::too_many_ticks(budget)) } else { outcome }
}

/// Why there is no value: an exception waits in the context, or it is told already.
enum Stop {
    Thrown(rquickjs::Error),
    Refused(Verdict),
}

impl From<rquickjs::Error> for Stop {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

impl From<Verdict> for Stop {
    fn from(verdict: Verdict) -> Self {
        Self::Refused(verdict)
    }
}

fn evaluate(
    ctx: &Ctx<'_>,
    script: &Script,
    budget: &Budget,
    ticks: &Ticks,
) -> Result<Payload, Stop> {
    let prelude: Function = ctx.eval(PRELUDE)?;
    let tools: Object = prelude.call((script.now.ms() as f64, dice(ctx, script.seed)?))?;
    let input = ctx.json_parse(script.input.text())?;
    if JAVA_CALLS.iter().any(|call| script.source.contains(call)) {
        ctx.eval::<Function, _>(JAVA)?.call::<_, ()>((input.clone(),))?;
    }
    ctx.globals().set("$", input)?;

    let value = settled(ctx, ctx.eval_with_options(source(script), options())?, ticks)?;
    let mut text = ResultText::new(budget);
    Conversion::new(&tools)?.write(value, 0, &mut text)?;
    Ok(text.finish())
}

/// Wrapped on the first line, so that lines keep their numbers.
fn source(script: &Script) -> String {
    match script.language {
        Language::Function => format!("(function () {{{}\n}})()", script.source),
        Language::JavaScript | Language::Jq => script.source.clone(),
    }
}

/// As old scripts expect it: no strict mode, one global scope.
fn options() -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(FILE_NAME.to_owned());
    options
}

/// Runs what the script left to be run, and waits for a promise it gave.
fn settled<'js>(ctx: &Ctx<'js>, value: Value<'js>, ticks: &Ticks) -> Result<Value<'js>, Stop> {
    while !ticks.are_spent() && ctx.execute_pending_job() {}
    match value.as_promise() {
        None => Ok(value),
        Some(promise) => match promise.result::<Value>() {
            Some(result) => Ok(result?),
            None => Err(reason::failed("the promise it gave is never settled").into()),
        },
    }
}

/// Numbers in [0, 1) that follow from the seed and nothing else: splitmix64.
fn dice<'js>(ctx: &Ctx<'js>, seed: TaskId) -> rquickjs::Result<Function<'js>> {
    let state = Cell::new(Digest::of(seed.as_bytes()).number());
    Function::new(ctx.clone(), move || {
        state.set(state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mixed = state.get() ^ (state.get() >> 30);
        let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The upper 53 bits: as many as a double holds exactly.
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    })
}

/// Counts how often the engine looked up.
#[derive(Clone)]
struct Ticks {
    left: Rc<Cell<u64>>,
}

impl Ticks {
    fn new(ticks_max: u64) -> Self {
        Self { left: Rc::new(Cell::new(ticks_max)) }
    }

    fn is_spent_by_one_more(&self) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        self.are_spent()
    }

    fn are_spent(&self) -> bool {
        self.left.get() == 0
    }
}
