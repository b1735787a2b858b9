//! # Plain programs give in the engine what they give in the pool
//!
//! Programs and inputs are thrown from a grammar that knows more than what is plain: whatever the
//! engine computes is computed by QuickJS too, and the two verdicts are the same, byte by byte. A
//! program that is not plain proves nothing, so most of them have to be plain.

use semel_engine::{Language, Script, Verdict};
use semel_model::Payload;
use semel_scripts::{Budget, evaluate};
use semel_tests::dice::Dice;

use crate::corpus::{self, expect_none, script};

/// So many programs of every run; `SEMEL_PROGRAMS` asks for more.
const PROGRAMS: u64 = 3_000;

/// Deeper expressions are leaves.
const DEPTH_MAX: u32 = 4;

const KEYS: [&str; 13] =
    ["a", "b", "text", "list", "map", "none", "length", "0", "1", "-1", "01", "10", "toString"];

const TEXTS: [&str; 22] = [
    "",
    "a",
    "b",
    "B",
    "10",
    "9",
    "-0",
    " 7 ",
    "1e3",
    ".5",
    "5.",
    "0x10",
    "Infinity",
    "-Infinity",
    "NaN",
    "null",
    "undefined",
    "true",
    "\\u00e9",
    "z\\u0301",
    "\\n\\t",
    "1e1000",
];

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "0.1",
    "0.2",
    "1.5",
    "100",
    "1e3",
    "1e21",
    "123456789012345680000",
    "1e-7",
    "9007199254740993",
    "4294967296",
    "0.000001",
    "5e-324",
    "1.7976931348623157e308",
    "9223372036854775808",
    "NaN",
    "Infinity",
];

const INPUTS: [&str; 7] =
    ["0", "1.0", "-0", "1.10", "12345678901234567890", "\"ann\"", "\"\u{1f600}\""];

const BINARY: [&str; 17] = [
    "==", "!=", "===", "!==", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||", "??", "+",
];

/// Throws one program at a time.
struct Thrower {
    dice: Dice,
    /// Variables declared so far.
    names: u64,
}

impl Thrower {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.dice.below(of.len() as u64) as usize]
    }

    fn value(&mut self, depth: u32) -> String {
        let deep = if depth < 3 { 10 } else { 7 };
        match self.dice.below(deep) {
            0 => "null".to_owned(),
            1 => self.one(&["true", "false"]).to_owned(),
            2 | 3 => self.one(&INPUTS).to_owned(),
            4 => format!("{:?}", self.one(&["", "a", "10", " 7", "0x1", "abc"])),
            5 => self.dice.below(20).to_string(),
            6 => format!("{}e{}", self.dice.below(1_000_000), self.dice.below(40)),
            7 => {
                let items: Vec<String> =
                    (0..self.dice.below(4)).map(|_| self.value(depth + 1)).collect();
                format!("[{}]", items.join(","))
            }
            _ => self.object(depth + 1),
        }
    }

    fn object(&mut self, depth: u32) -> String {
        let entries = (0..self.dice.below(6)).map(|_| {
            let key = self.one(&KEYS[..12]);
            format!("{key:?}:{}", self.value(depth))
        });
        format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
    }

    fn leaf(&mut self) -> String {
        match self.dice.below(12) {
            0..=2 => format!("$.{}", self.one(&["a", "b", "text", "list", "map", "none"])),
            3 => format!("$.{}[{}]", self.one(&["list", "text"]), self.dice.below(4)),
            4 => format!("$.{}.length", self.one(&["list", "text"])),
            5 => format!("$['map']['{}']", self.one(&KEYS)),
            6 => format!("'{}'", self.one(&TEXTS)),
            7 | 8 => self.one(&NUMBERS).to_owned(),
            9 => self.one(&["true", "false", "null", "undefined", "$"]).to_owned(),
            10 if self.names > 0 => format!("v{}", self.dice.below(self.names)),
            _ => self.one(&["$.a", "$.b", "missing", "\"x\"", "-1", "+'3'"]).to_owned(),
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth >= DEPTH_MAX || self.dice.once_in(4) {
            return self.leaf();
        }
        match self.dice.below(16) {
            0..=8 => {
                let (left, right) = (self.expression(depth + 1), self.expression(depth + 1));
                let operator = self.one(&BINARY);
                match self.dice.below(3) {
                    0 => format!("{left} {operator} {right}"),
                    1 => format!("({left}) {operator} {right}"),
                    _ => format!("({left} {operator} {right})"),
                }
            }
            9 | 10 => {
                let operator = self.one(&["!", "-", "+", "typeof ", "!!", "- -"]);
                format!("{operator}({})", self.expression(depth + 1))
            }
            11 | 12 => {
                let condition = self.expression(depth + 1);
                let (yes, no) = (self.expression(depth + 1), self.expression(depth + 1));
                format!("({condition} ? {yes} : {no})")
            }
            13 => {
                let items: Vec<String> =
                    (0..self.dice.below(3)).map(|_| self.expression(depth + 1)).collect();
                format!("[{}]", items.join(", "))
            }
            14 => {
                let (one, two) = (self.expression(depth + 1), self.expression(depth + 1));
                format!("({{a: {one}, '{}': {two}}})", self.one(&KEYS))
            }
            _ => {
                let (of, key) = (self.leaf(), self.expression(depth + 1));
                format!("({of})[{key}]")
            }
        }
    }

    fn statement(&mut self, depth: u32, returns: bool) -> String {
        let end = self.one(&[";", ";", "\n", " ;\n"]);
        match self.dice.below(10) {
            0 if depth == 0 => {
                let kind = self.one(&["var", "let", "const"]);
                let value = self.expression(1);
                let name = self.names;
                self.names += 1;
                format!("{kind} v{name} = {value}{end}")
            }
            1 if self.names > 0 => {
                format!("v{} = {}{end}", self.dice.below(self.names), self.expression(1))
            }
            2..=4 if depth < 3 => {
                let condition = self.expression(1);
                let yes = self.block(depth + 1, returns);
                if self.dice.once_in(3) {
                    return format!("if ({condition}) {yes} ");
                }
                format!("if ({condition}) {yes} else {} ", self.block(depth + 1, returns))
            }
            5 if returns => format!("return {}{end}", self.expression(1)),
            6 => "; ".to_owned(),
            _ => format!("{}{end}", self.expression(0)),
        }
    }

    fn block(&mut self, depth: u32, returns: bool) -> String {
        if self.dice.once_in(5) {
            return format!("{};", self.expression(1));
        }
        let statements = (0..self.dice.below(3)).map(|_| self.statement(depth, returns));
        format!("{{ {} }}", statements.collect::<String>())
    }

    fn program(&mut self) -> (Language, String) {
        self.names = 0;
        let statements = |thrower: &mut Self, returns| -> String {
            let count = 1 + thrower.dice.below(4);
            (0..count).map(|_| thrower.statement(0, returns)).collect()
        };
        match self.dice.below(8) {
            0..=2 => (Language::JavaScript, self.expression(0)),
            3 | 4 => (Language::JavaScript, statements(self, false)),
            5 => {
                (Language::JavaScript, format!("(function () {{ {} }})()", statements(self, true)))
            }
            6 => {
                let body = statements(self, true);
                (Language::JavaScript, format!("function e() {{ {body} }} e();"))
            }
            _ => (Language::Function, statements(self, true)),
        }
    }

    fn script(&mut self) -> Script {
        let (language, source) = self.program();
        let (a, b, list) = (self.value(1), self.value(1), self.value(2));
        let text = self.one(&["\"ann\"", "\"\"", "\"12\"", "\"\u{e9}\u{1f600}x\"", "null"]);
        let map = self.object(1);
        let input = format!(
            r#"{{"a":{a},"b":{b},"text":{text},"list":[{list},1,"two"],"map":{map},"a":{a}}}"#
        );
        let input = Payload::from_text(input).unwrap();
        Script { input, ..script(language, &source) }
    }
}

/// What is wrong with the verdict of the engine, if it has one.
fn objection(script: &Script) -> Option<Result<(), String>> {
    let here = script.plain_verdict()?;
    let there = evaluate(script, &Budget::default());
    let objection = || {
        let (source, input) = (&script.source, script.input.text());
        format!("{source}\n  over {input}\n  the engine: {here:?}\n  the pool:   {there:?}")
    };
    Some(if here == there { Ok(()) } else { Err(objection()) })
}

#[test]
fn thrown_programs_give_the_same_in_the_engine() {
    let given = std::env::var("SEMEL_PROGRAMS").ok();
    let programs = given.map_or(PROGRAMS, |count| count.parse().unwrap());
    let mut thrower = Thrower { dice: Dice::thrown(), names: 0 };
    let mut plain = 0;
    let mut objections = Vec::new();
    for _ in 0..programs {
        if let Some(judged) = objection(&thrower.script()) {
            plain += 1;
            objections.extend(judged.err());
        }
    }
    println!("{plain} of {programs} programs are plain");
    objections.truncate(10);
    expect_none(&objections);
    assert!(plain * 4 > programs, "only {plain} of {programs} programs are plain");
}

#[test]
fn programs_as_people_write_them_give_the_same_in_the_engine() {
    let languages = [Language::JavaScript, Language::Function];
    let cases: Vec<_> = ["ordinary", "plain", "hostile"]
        .into_iter()
        .flat_map(|directory| languages.map(|language| (directory, language)))
        .filter(|(directory, language)| {
            *directory != "hostile" || *language == Language::JavaScript
        })
        .flat_map(|(directory, language)| corpus::read(directory, language))
        .filter(corpus::Case::is_harmless)
        .collect();
    let objections = cases.iter().filter_map(|case| {
        let verdict = case.script.plain_verdict()?;
        case.objection(&verdict)
    });
    expect_none(&objections.collect::<Vec<_>>());
}

/// The programs that Conductor's documentation, its examples and its SDKs write.
#[test]
fn the_programs_of_examples_and_builders_are_plain() {
    let languages = [Language::JavaScript, Language::Function];
    let cases = languages.into_iter().flat_map(|language| corpus::read("plain", language));
    let objections = cases.filter_map(|case| match case.script.plain_verdict() {
        None => Some(format!("{}: {} is not plain", case.place, case.script.source)),
        Some(_) => objection(&case.script)?.err(),
    });
    expect_none(&objections.collect::<Vec<_>>());
}

/// What a program might take for undeclared is there already, or is refused as a name.
#[test]
fn no_name_that_javascript_has_already_can_be_declared() {
    let names = "var names = Object.getOwnPropertyNames(globalThis); \
                 for (var o = Object.prototype, k, i = 0; k = Object.getOwnPropertyNames(o)[i]; i++) \
                 names.push(k); names.filter(function (name) { return /^[A-Za-z_]+$/.test(name) })";
    let script_ = script(Language::JavaScript, names);
    let Verdict::Value(all) = evaluate(&script_, &Budget::default()) else { panic!("names") };
    let all: Vec<String> = serde_json::from_str(all.text()).unwrap();
    assert!(all.len() > 50, "{all:?}");
    let own = ["names", "o", "k", "i"];
    let objections = all.iter().filter(|name| !own.contains(&name.as_str())).filter_map(|name| {
        let declares = |source: String| script(Language::JavaScript, &source).plain_verdict();
        declares(format!("var {name}; {name}")).map(|it| format!("{name} can be declared: {it:?}"))
    });
    expect_none(&objections.collect::<Vec<_>>());
    for name in all.iter().filter(|name| !own.contains(&name.as_str())) {
        if let Some(judged) = objection(&script(Language::JavaScript, &format!("$.{name}"))) {
            judged.unwrap();
        }
    }
}
