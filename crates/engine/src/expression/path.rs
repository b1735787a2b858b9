//! # Paths: JSONPath in Jayway's dialect, read into steps
//!
//! The leading `$.` may be left out. A path inside a filter or an argument that starts from `$` is
//! the same for every element, so it is set apart here and evaluated once. What does not parse has
//! no value: the engine never fails a run over a path.

use super::cursor::Cursor;
use super::filter::Filter;
use super::functions::Function;
use super::json::Json;
use super::pattern::COMPILE_NODES;

/// A whole expression: its path and the paths from `$` that its filters and arguments mention, each
/// after those it mentions itself.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) documents: Vec<Path>,
    pub(super) path: Path,
}

#[derive(Debug)]
pub(super) struct Path {
    pub(super) steps: Vec<Step>,
    pub(super) call: Option<Box<Call>>,
}

#[derive(Debug)]
pub(super) struct Step {
    /// Written with `..`: taken from here and from everything below.
    pub(super) is_deep: bool,
    pub(super) pick: Pick,
}

#[derive(Debug)]
pub(super) enum Pick {
    Name(String),
    Names(Vec<String>),
    Index(i64),
    Indexes(Vec<i64>),
    Slice(Slice),
    All,
    Filter(Filter),
}

impl Pick {
    /// How often it looks into one place.
    pub(super) fn looks(&self) -> usize {
        match self {
            Self::Names(names) => names.len(),
            Self::Indexes(indexes) => indexes.len(),
            Self::Name(_) | Self::Index(_) | Self::Slice(_) | Self::All | Self::Filter(_) => 1,
        }
    }
}

/// `[from:to:step]`; the step is never 0.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
    pub(super) step: i64,
}

/// A function over what the steps before it found, and what is read from its result.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: Function,
    pub(super) arguments: Vec<Argument>,
    pub(super) rest: Path,
}

#[derive(Debug)]
pub(super) enum Argument {
    Literal(Json),
    /// One of the query's documents.
    Document(usize),
}

/// Lead to one place at most: the result is that value or null, not a list.
/// Names at the end are gathered into one object, as Jayway does.
pub(super) fn is_definite(steps: &[Step]) -> bool {
    steps.iter().enumerate().all(|(at, step)| {
        !step.is_deep
            && match &step.pick {
                Pick::Name(_) | Pick::Index(_) => true,
                Pick::Names(_) => at + 1 == steps.len(),
                Pick::Indexes(_) | Pick::Slice(_) | Pick::All | Pick::Filter(_) => false,
            }
    })
}

impl Query {
    /// What it costs to read this text as a path, whether it is one or not: its length, and what may be
    /// patterns in it.
    pub(super) fn price(text: &str) -> usize {
        let patterns = text.matches("=~").count() + text.matches("/").count() / 2;
        1 + text.len() / 8 + patterns * COMPILE_NODES
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser { cursor: Cursor::new(text.trim()), documents: Vec::new() };
        let is_rooted = parser.cursor.take("$") || parser.cursor.take("@");
        let path = parser.path(!is_rooted, Ends::AtTheEnd)?;
        let is_whole = parser.cursor.is_at_end();
        is_whole.then_some(Self { documents: parser.documents, path })
    }
}

/// What a name without quotes ends at.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ends {
    AtTheEnd,
    /// Inside a filter or an argument, also where the next thing begins.
    AtOperators,
}

impl Ends {
    fn name(self, next: char) -> bool {
        let ends = if self == Self::AtTheEnd { ".[(" } else { ".[(),<>=!~&|" };
        next.is_whitespace() || ends.contains(next)
    }
}

pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) documents: Vec<Path>,
}

impl Parser<'_> {
    /// The steps from here on. `is_open`: the first may stand without its dot.
    pub(super) fn path(&mut self, mut is_open: bool, ends: Ends) -> Option<Path> {
        let mut steps = Vec::new();
        loop {
            let is_deep = !is_open && self.cursor.take("..");
            let is_dotted = std::mem::take(&mut is_open) || is_deep || self.cursor.take(".");
            let pick = if self.cursor.take("[") {
                self.bracket()?
            } else if !is_dotted {
                return Some(Path { steps, call: None });
            } else if self.cursor.take("*") {
                Pick::All
            } else {
                let name = self.cursor.until(|next| ends.name(next));
                if name.is_empty() {
                    return None;
                }
                if self.cursor.take("(") {
                    let call = if is_deep { None } else { self.call(name, ends) };
                    return Some(Path { steps, call: Some(Box::new(call?)) });
                }
                Pick::Name(name.to_owned())
            };
            steps.push(Step { is_deep, pick });
        }
    }

    /// A path from `$`, set apart.
    pub(super) fn document(&mut self) -> Option<usize> {
        let path = self.path(false, Ends::AtOperators)?;
        self.documents.push(path);
        Some(self.documents.len() - 1)
    }

    fn bracket(&mut self) -> Option<Pick> {
        self.cursor.deeper()?;
        self.cursor.skip_blanks();
        let pick = if self.cursor.take("*") {
            Pick::All
        } else if self.cursor.take("?") {
            Pick::Filter(self.filter()?)
        } else if self.cursor.is_at_quote() {
            one_or_many(self.names()?, Pick::Name, Pick::Names)?
        } else {
            self.positions()?
        };
        self.cursor.expect("]")?;
        self.cursor.shallower();
        Some(pick)
    }

    fn names(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if !self.cursor.is_at_quote() {
                return None;
            }
            names.push(self.cursor.quoted()?);
            if self.cursor.expect(",").is_none() {
                return Some(names);
            }
        }
    }

    /// `[1]`, `[1, 2]` or a slice.
    fn positions(&mut self) -> Option<Pick> {
        let mut indexes = Vec::new();
        loop {
            let index = self.bound()?;
            if indexes.is_empty() && self.cursor.expect(":").is_some() {
                return self.slice(index);
            }
            indexes.push(index?);
            if self.cursor.expect(",").is_none() {
                return one_or_many(indexes, Pick::Index, Pick::Indexes);
            }
        }
    }

    fn slice(&mut self, from: Option<i64>) -> Option<Pick> {
        let to = self.bound()?;
        let is_stepped = self.cursor.expect(":").is_some();
        let step = if is_stepped { self.bound()?.unwrap_or(1) } else { 1 };
        (step != 0).then_some(Pick::Slice(Slice { from, to, step }))
    }

    /// A number if there is one; none inside if it is left out.
    #[expect(clippy::option_option, reason = "left out is not the same as not valid")]
    fn bound(&mut self) -> Option<Option<i64>> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            Some(next) if next.is_ascii_digit() || next == '-' => self.cursor.whole().map(Some),
            Some(_) | None => Some(None),
        }
    }

    fn call(&mut self, name: &str, ends: Ends) -> Option<Call> {
        let function = Function::named(name)?;
        self.cursor.deeper()?;
        let mut arguments = Vec::new();
        if self.cursor.expect(")").is_none() {
            loop {
                arguments.push(self.argument()?);
                if self.cursor.expect(")").is_some() {
                    break;
                }
                self.cursor.expect(",")?;
            }
        }
        let rest = self.path(false, ends)?;
        self.cursor.shallower();
        Some(Call { function, arguments, rest })
    }

    fn argument(&mut self) -> Option<Argument> {
        self.cursor.skip_blanks();
        if self.cursor.take("$") || self.cursor.take("@") {
            return self.document().map(Argument::Document);
        }
        self.cursor.literal().map(Argument::Literal)
    }
}

fn one_or_many<T>(
    mut items: Vec<T>,
    one: impl Fn(T) -> Pick,
    many: impl Fn(Vec<T>) -> Pick,
) -> Option<Pick> {
    if items.len() == 1 { items.pop().map(one) } else { Some(many(items)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_path_does_not_parse() {
        for text in [
            "",
            "a.",
            "a..",
            "a...b",
            ".a",
            "..a",
            "a[",
            "a]b[",
            "a[1",
            "a['x'",
            "a['x]",
            "a[b]",
            "a[]",
            "a[1,]",
            "a[1,'x']",
            "a['x',1]",
            "a['x' 'y']",
            "a[1:2:0]",
            "a[1:2:3:4]",
            "a b",
            "$a",
            "a*.[",
            "a.*b",
            "a[?]",
            "a[?()]",
            "a[?(@.x]",
            "a[?(@.x ==)]",
            "a[?(1)]",
            "a[?@.x]",
            "a[?(@.x = 1)]",
            "a[?(@.x == abc)]",
            "a[?(@.x =~ /(/)]",
            "a[(@.length-1)]",
            "a.nothing()",
            "a.length(",
            "a..length()",
            "a.length()x",
            "a[99999999999999999999]",
        ] {
            assert!(Query::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn brackets_without_end_are_not_valid_and_not_a_crash() {
        for open in ["[?(@", "[?((", "[?(!", "[?(@==[", "[?(@=={'a':", ".concat($.a", "['a'", "[0:"]
        {
            for count in [31, 1_000, 100_000] {
                assert!(Query::parse(&format!("a{}", open.repeat(count))).is_none());
            }
        }
        assert!(Query::parse(&format!("a[?({}@{})]", "(".repeat(20), ")".repeat(20))).is_some());
        assert!(Query::parse(&format!("a[?({}@)]", "!".repeat(100_000))).is_none());
    }

    #[test]
    fn names_at_the_end_are_definite_and_before_it_are_not() {
        let is_definite = |text| is_definite(&Query::parse(text).unwrap().path.steps);
        for text in ["a", "$", "a.b['c'][0][-1]", "a['b','c']", "a.first().b"] {
            assert!(is_definite(text), "{text}");
        }
        for text in ["a[*]", "a.*", "a..b", "a[0,1]", "a[0:1]", "a[:]", "a[?(@.b)]", "a['b','c'].d"]
        {
            assert!(!is_definite(text), "{text}");
        }
    }
}
