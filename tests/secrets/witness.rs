//! # The witness: every answer, every stored byte, every line of the log
//!
//! Asks like any client and remembers what came back, but for the answers that are meant to hold a
//! value. Then looks for texts in all of it, in every form a program might have written them.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use semel_tests::process::{Answer, Caller, Server};
use serde_json::Value;

/// Answers that are made to hold values.
fn is_confidential(method: &str, path: &str) -> bool {
    let is_secret = path.strip_prefix("/api/secrets/").is_some_and(|key| {
        !key.contains('/') && !["v2", "clearLocalCache", "clearRedisCache"].contains(&key)
    });
    let is_hand_out = path.starts_with("/api/tasks/poll/") || path == "/api/tasks/update-v2";
    is_hand_out || (method == "GET" && is_secret)
}

pub(crate) struct Witness {
    directory: PathBuf,
    answers: RefCell<Vec<(String, String)>>,
}

impl Witness {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), answers: RefCell::default() }
    }

    pub(crate) fn ask(
        &self,
        server: &Server,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer> {
        let verb = method.parse()?;
        self.heard(method, path, |caller| caller.ask(verb, path, body), server)
    }

    pub(crate) fn put_text(&self, server: &Server, path: &str, body: &str) -> Result<Answer> {
        self.heard("PUT", path, |caller| caller.put_text(path, body), server)
    }

    fn heard(
        &self,
        method: &str,
        path: &str,
        ask: impl FnOnce(&Caller) -> Result<Answer>,
        server: &Server,
    ) -> Result<Answer> {
        let answer = ask(&server.caller()?)?;
        ensure!(answer.status < 500, "{} to {method} {path}: {}", answer.status, answer.body);
        if !is_confidential(method, path) {
            let asked = format!("the answer to {method} {path}");
            self.answers.borrow_mut().push((asked, answer.body.clone()));
        }
        Ok(answer)
    }

    /// Where a text stands, in whatever form.
    pub(crate) fn places_of(&self, text: &str) -> Result<Vec<String>> {
        let forms = forms(text);
        let holds = |bytes: &[u8]| forms.iter().any(|form| contains(bytes, form.as_bytes()));
        let mut places = Vec::new();
        for file in files(&self.directory)? {
            if holds(&std::fs::read(&file)?) {
                places.push(file.strip_prefix(&self.directory)?.display().to_string());
            }
        }
        let answers = self.answers.borrow();
        let told = answers.iter().filter(|(_, body)| holds(body.as_bytes()));
        places.extend(told.map(|(asked, _)| asked.clone()));
        Ok(places)
    }
}

/// As it is; as JSON; as JSON in ASCII; each of them inside JSON once more.
fn forms(text: &str) -> Vec<String> {
    let json = |text: &str| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let ascii = |text: &str, upper: bool| {
        let unit = |unit: &u16| match upper {
            true => format!("\\u{unit:04X}"),
            false => format!("\\u{unit:04x}"),
        };
        let written = |next: char| match next.is_ascii() {
            true => next.to_string(),
            false => next.encode_utf16(&mut [0; 2]).iter().map(unit).collect(),
        };
        text.chars().map(written).collect::<String>()
    };
    let once = json(text);
    let mut forms = vec![text.to_owned(), ascii(&once, false), ascii(&once, true), once];
    let twice: Vec<String> = forms.iter().map(|form| json(form)).collect();
    forms.extend(twice);
    forms.sort();
    forms.dedup();
    forms
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
        from += at + 1;
        if bytes[from..].starts_with(rest) {
            return true;
        }
    }
    false
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}
