//! # jq: jaq, a fresh one for every program
//!
//! The program sees its input and the time it is told; `$ENV` and `env` are empty, there is no
//! other input and there are no modules. jaq counts nothing: how much is given is limited here,
//! everything else by the child process it runs in.

mod complaint;
mod conversion;

use jaq_core::data::{DataT, HasLut};
use jaq_core::load::parse::Def;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::native::{self, Filter, Fun};
use jaq_core::{Compiler, Ctx, Lut, RunPtr, Vars};
use jaq_json::{Map, Val, read};
use semel_engine::{Script, Verdict};
use semel_model::Payload;

use crate::budget::Budget;
use crate::reason;
use crate::result_text::ResultText;

/// What jq has and jaq has not, and what must not look outside.
const DEFINITIONS: &str = include_str!("jq/definitions.jq");

/// Filters of jaq that read the clock, the environment or the machine's time zone, or write a log.
const WORLDLY: &[&str] =
    &["now", "env", "localtime", "strflocaltime", "debug_empty", "stderr_empty"];

pub(crate) fn run(script: &Script, budget: &Budget) -> Result<Payload, Verdict> {
    let source = script.source.as_str();
    let input = read::parse_single(script.input.text().as_bytes())
        .map_err(|error| reason::failed(format!("the input is not JSON: {error}")))?;

    let arena = Arena::default();
    let modules = Loader::new(definitions())
        .load(&arena, File { code: source, path: () })
        .map_err(|errors| complaint::of_loading(source, &errors))?;
    // Data is imported like modules are, and as absent.
    load::import(&modules, |_| Err(String::new()))
        .map_err(|errors| complaint::of_loading(source, &errors))?;
    let filter = Compiler::default()
        .with_funs(filters())
        .with_global_vars(["$ENV"])
        .compile(modules)
        .map_err(|errors| complaint::of_compiling(source, &errors))?;

    let surroundings = Surroundings { table: &filter.lut, now: script.now.ms() as f64 / 1000.0 };
    let variables = Vars::new([nothing()]);
    let context = Ctx::<Program>::new(surroundings, variables);
    let mut results = filter.id.run((context, input));

    let mut text = ResultText::new(budget);
    text.push("[")?;
    for given in 0.. {
        let value = match results.next() {
            None => break,
            Some(Ok(value)) => value,
            Some(Err(stop)) => match stop.get_err() {
                Ok(error) => return Err(complaint::of_running(error)),
                Err(_) => break, // `halt`: what it gave until then stands.
            },
        };
        if given == budget.results_max {
            return Err(reason::too_many_results(budget));
        }
        if given > 0 {
            text.push(",")?;
        }
        conversion::write(&value, 0, &mut text)?;
    }
    text.push("]")?;
    Ok(text.finish())
}

/// Later ones hide earlier ones of the same name.
fn definitions() -> impl Iterator<Item = Def<&'static str>> {
    let ours = load::parse(DEFINITIONS, |parser| parser.defs());
    let ours = ours.expect("our definitions are jq");
    jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(ours)
}

/// jaq's own, but for those that would look or speak outside.
fn filters() -> impl Iterator<Item = Fun<Program>> {
    let theirs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let silent: RunPtr<Program> = |_| Box::new(std::iter::empty());
    let ours: [Filter<RunPtr<Program>>; 4] = [
        ("now", native::v(0), |(context, _)| native::bome(Ok(Val::from(context.data().now)))),
        ("env", native::v(0), |_| native::bome(Ok(nothing()))),
        ("debug_empty", native::v(0), silent),
        ("stderr_empty", native::v(0), silent),
    ];
    theirs.filter(|(name, ..)| !WORLDLY.contains(name)).chain(ours.map(native::run::<Program>))
}

fn nothing() -> Val {
    Val::obj(Map::default())
}

/// The kind of our programs: plain JSON values, and a time that is told.
struct Program;

impl DataT for Program {
    type V<'a> = Val;
    type Data<'a> = Surroundings<'a>;
}

#[derive(Clone)]
struct Surroundings<'a> {
    table: &'a Lut<Program>,
    /// Seconds since 1970.
    now: f64,
}

impl<'a> HasLut<'a, Program> for Surroundings<'a> {
    fn lut(&self) -> &'a Lut<Program> {
        self.table
    }
}
