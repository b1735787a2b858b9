//! # What the condition of a loop sees
//!
//! Its parameters, resolved anew each time; the loop itself; the latest output of each step of the
//! body. Only what the program speaks of is put together, so that a long loop does not show all of
//! its past to a condition that counts turns.

use semel_model::Payload;
use serde_json::Value;

use super::super::join::object;
use crate::kinds::Kind;
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    pub(super) fn condition_scope(&mut self, task: &Task, program: &str) -> Payload {
        let given = match self.is_branch(task.fork, &task.step) {
            true => task.input.clone(),
            false => self.task_input(&task.step, task.id, None),
        };
        let mut scope: Vec<(String, String)> = Vec::new();
        if let Value::Object(map) = given.value() {
            scope.extend(map.into_iter().map(|(key, value)| (key, value.to_string())));
        }
        let seen = Seen::by(program);
        let execution = self.execution();
        for (key, value) in execution.loop_head(task) {
            if key != "iteration" {
                scope.push((key.to_owned(), value));
            }
        }
        let home = execution.home(task.fork);
        let turn = task.as_loop().map_or(0, |own| own.turn);
        let inside = execution.in_turn(task.id, turn).filter(|it| !it.replaced);
        for inner in inside.filter(|it| seen.sees(it.step.reference())) {
            let output = execution.output_of(inner);
            scope.push((inner.step.reference().to_owned(), output.text().to_owned()));
        }
        let place = home.find(&task.reference).unwrap_or(&task.step);
        debug_assert!(place.kind() == Kind::DoWhile);
        for name in [task.step.reference(), &*task.reference] {
            if seen.sees(name) && !scope.iter().any(|(key, _)| key == name) {
                let own = match seen.only_counts(name) {
                    true => object(
                        execution.loop_head(task).iter().map(|(key, value)| (*key, value.as_str())),
                    ),
                    false => execution.loop_output(task),
                };
                scope.push((name.to_owned(), own.text().to_owned()));
            }
        }
        let mut last: Vec<(&str, &str)> = Vec::new();
        for (key, value) in &scope {
            last.retain(|(known, _)| known != key);
            last.push((key, value));
        }
        object(last.into_iter())
    }
}

/// Which names a program looks up in `$`.
struct Seen<'a> {
    /// It does something else with `$`: it may see anything.
    all: bool,
    /// Each name, and what follows it.
    names: Vec<(&'a str, &'a str)>,
}

impl<'a> Seen<'a> {
    fn by(program: &'a str) -> Self {
        let mut seen = Self { all: false, names: Vec::new() };
        for (at, _) in program.match_indices('$') {
            let before = program[..at].chars().next_back();
            let is_inside_name = before.is_some_and(is_word);
            let rest = &program[at + 1..];
            match name_after(rest) {
                _ if is_inside_name => seen.all = true,
                Some(found) => seen.names.push(found),
                None => seen.all = true,
            }
        }
        seen
    }

    fn sees(&self, name: &str) -> bool {
        self.all || self.names.iter().any(|(seen, _)| *seen == name)
    }

    /// Of that object nothing but the number of turns is looked at.
    fn only_counts(&self, name: &str) -> bool {
        let counts = |rest: &str| name_after(rest).is_some_and(|(name, _)| name == "iteration");
        !self.all && self.names.iter().all(|(seen, rest)| *seen != name || counts(rest))
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The name that `.name`, `['name']` or `["name"]` looks up, and what is behind it.
fn name_after(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        return (end > 0).then(|| rest.split_at(end));
    }
    let rest = text.strip_prefix('[')?;
    let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (name, rest) = rest[1..].split_once(quote)?;
    let rest = rest.strip_prefix(']')?;
    (!name.contains('\\')).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_counts_turns_sees_nothing_else_of_the_loop() {
        for program in ["$.loop.iteration < 3", "$['loop'][\"iteration\"] < $.max"] {
            let seen = Seen::by(program);
            assert!(seen.sees("loop") && seen.only_counts("loop"), "{program}");
            assert!(!seen.sees("step"), "{program}");
        }
        let seen = Seen::by("$.loop.iteration < 3 && $.loop['1'].step.ok");
        assert!(seen.sees("loop") && !seen.only_counts("loop"));
    }

    #[test]
    fn whatever_else_it_does_with_its_input_it_may_see_everything() {
        for program in ["JSON.stringify($)", "$[x].y", "var i = $; i.loop", "a$ + $.x", "$ .x"] {
            assert!(Seen::by(program).sees("anything"), "{program}");
        }
    }
}
