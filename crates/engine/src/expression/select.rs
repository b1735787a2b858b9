//! # Selecting: what a path finds in a document
//!
//! Step by step, from the places found so far to the next ones, in the order of the document. Places
//! are borrowed: only what is selected in the end is copied, by whoever asked. Every place looked at
//! is paid for from a [`Budget`]; when it is spent the answer is none.

use std::borrow::Cow;

use super::functions::Input;
use super::json::{Json, Object};
use super::path::{Argument, Call, Path, Pick, Query, Step, is_definite};
use super::position::{element, sliced};

/// How many nodes may still be visited.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new(nodes: usize) -> Self {
        Self { left: nodes }
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// None when it does not suffice; then it is spent.
    pub(super) fn spend(&mut self, nodes: usize) -> Option<()> {
        let left = self.left.checked_sub(nodes);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }
}

/// Where a path of a query starts: the document, and how many steps already led to it.
pub(super) struct Root<'v> {
    pub(super) document: Option<&'v Json>,
    pub(super) taken: usize,
}

/// One place or none for a definite path, a list for any other.
pub(super) enum Answer<'v> {
    One(Option<Cow<'v, Json>>),
    Many(Vec<Cow<'v, Json>>),
}

/// What a path from `$` inside a filter or an argument came to.
pub(super) struct Known<'v> {
    pub(super) value: Option<Cow<'v, Json>>,
    pub(super) exists: bool,
}

/// `roots` of the query's documents in their order, then of its path. None is over budget.
pub(super) fn answer<'v>(
    query: &Query,
    roots: &[Root<'v>],
    budget: &mut Budget,
) -> Option<Answer<'v>> {
    let mut known = Vec::new();
    for (path, root) in query.documents.iter().zip(roots) {
        let mut search = Search { known: &known, budget };
        let answer = search.walk(path, root)?;
        let exists = answer.exists();
        let value = search.gather(answer)?;
        known.push(Known { value, exists });
    }
    let root = roots.last().expect("the path itself has a root");
    Search { known: &known, budget }.walk(&query.path, root)
}

impl Answer<'_> {
    pub(super) fn exists(&self) -> bool {
        match self {
            Self::One(found) => found.is_some(),
            Self::Many(found) => !found.is_empty(),
        }
    }
}

/// One path being evaluated. `'k` is what is known beforehand, `'v` the documents.
pub(super) struct Search<'k, 'v> {
    pub(super) known: &'k [Known<'v>],
    pub(super) budget: &'k mut Budget,
}

impl<'v> Search<'_, 'v> {
    fn walk(&mut self, path: &Path, root: &Root<'v>) -> Option<Answer<'v>> {
        self.answer(&path.steps[root.taken..], path.call.as_deref(), root.document)
    }

    pub(super) fn answer(
        &mut self,
        steps: &[Step],
        call: Option<&Call>,
        from: Option<&'v Json>,
    ) -> Option<Answer<'v>> {
        let answer = match (steps, call) {
            ([before @ .., Step { is_deep, pick: Pick::Names(names) }], None) => {
                let places = self.places(before, from)?;
                self.objects(places, names, *is_deep)?
            }
            ([..], _) => self.places(steps, from)?.into_iter().map(Cow::Borrowed).collect(),
        };
        let answer = if is_definite(steps) && !(call.is_some() && ends_in_names(steps)) {
            Answer::One(answer.into_iter().next())
        } else {
            Answer::Many(answer)
        };
        match call {
            Some(call) => self.call(call, answer),
            None => Some(answer),
        }
    }

    fn call(&mut self, call: &Call, found: Answer<'v>) -> Option<Answer<'v>> {
        let input = match found {
            Answer::One(None) => return Some(Answer::One(None)),
            Answer::One(Some(value)) => Input::of(value),
            Answer::Many(found) => Input::List(found),
        };
        let known = self.known;
        let arguments: Vec<&Json> = call
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Literal(value) => value,
                Argument::Document(at) => known[*at].value.as_deref().unwrap_or(&Json::Null),
            })
            .collect();
        let items = match &input {
            Input::List(items) => items.len(),
            Input::Other(_) => 1,
        };
        let nodes: usize = arguments.iter().map(|argument| argument.size().nodes).sum();
        self.budget.spend(items + nodes)?;
        if call.function.copies() {
            self.budget.spend(input.nodes())?;
        }
        let value = call.function.apply(input, &arguments);
        self.go_on(&call.rest, value)
    }

    /// What is read from the result of a function.
    fn go_on(&mut self, rest: &Path, value: Option<Cow<'v, Json>>) -> Option<Answer<'v>> {
        let Path { steps, call: next } = rest;
        match value {
            None => self.answer(steps, next.as_deref(), None),
            Some(value) if steps.is_empty() && next.is_none() => Some(Answer::One(Some(value))),
            Some(Cow::Borrowed(value)) => self.answer(steps, next.as_deref(), Some(value)),
            Some(Cow::Owned(made)) => {
                let mut search = Search { known: self.known, budget: self.budget };
                let answer = search.answer(steps, next.as_deref(), Some(&made))?;
                let owned = |found: Cow<'_, Json>| Cow::Owned(found.into_owned());
                Some(match answer {
                    Answer::One(found) => Answer::One(found.map(owned)),
                    Answer::Many(found) => Answer::Many(found.into_iter().map(owned).collect()),
                })
            }
        }
    }

    /// An answer as a value to compare with: places become a list. None inside is undefined.
    #[expect(clippy::option_option, reason = "undefined is not the same as over budget")]
    pub(super) fn gather<'a>(&mut self, answer: Answer<'a>) -> Option<Option<Cow<'a, Json>>> {
        match answer {
            Answer::One(found) => Some(found),
            Answer::Many(found) => {
                found.iter().try_for_each(|value| self.budget.spend(value.size().nodes))?;
                let list = found.into_iter().map(Cow::into_owned).collect();
                Some(Some(Cow::Owned(Json::Array(list))))
            }
        }
    }

    fn places(&mut self, steps: &[Step], from: Option<&'v Json>) -> Option<Vec<&'v Json>> {
        let mut places: Vec<&Json> = from.into_iter().collect();
        for step in steps {
            let mut next = Vec::new();
            for place in places {
                if step.is_deep {
                    self.descend(place, &step.pick, &mut next)?;
                } else {
                    self.pick(place, &step.pick, &mut next)?;
                }
            }
            places = next;
        }
        Some(places)
    }

    fn descend(&mut self, at: &'v Json, pick: &Pick, found: &mut Vec<&'v Json>) -> Option<()> {
        if let (Pick::Filter(filter), Json::Array(items)) = (pick, at) {
            // Objects are asked when they are reached, each once; here the other elements.
            for item in items.iter().filter(|item| item.as_object().is_none()) {
                if self.holds(filter, item)? {
                    found.push(item);
                }
            }
        } else {
            self.pick(at, pick, found)?;
        }
        self.each(at, |search, child| search.descend(child, pick, found))
    }

    fn each(
        &mut self,
        at: &'v Json,
        mut visit: impl FnMut(&mut Self, &'v Json) -> Option<()>,
    ) -> Option<()> {
        match at {
            Json::Array(items) => items.iter().try_for_each(|item| visit(self, item)),
            Json::Object(object) => object.iter().try_for_each(|(_, item)| visit(self, item)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Some(()),
        }
    }

    fn pick(&mut self, at: &'v Json, pick: &Pick, found: &mut Vec<&'v Json>) -> Option<()> {
        self.budget.spend(pick.looks())?;
        let before = found.len();
        match (pick, at) {
            (Pick::Name(name), Json::Object(object)) => found.extend(object.get(name)),
            (Pick::Names(names), Json::Object(object)) => {
                found.extend(names.iter().filter_map(|name| object.get(name)));
            }
            (Pick::Index(index), Json::Array(items)) => found.extend(element(items, *index)),
            (Pick::Indexes(indexes), Json::Array(items)) => {
                found.extend(indexes.iter().filter_map(|index| element(items, *index)));
            }
            (Pick::Slice(slice), Json::Array(items)) => found.extend(sliced(items, slice)),
            (Pick::All, _) => self.each(at, |_, child| {
                found.push(child);
                Some(())
            })?,
            (Pick::Filter(filter), Json::Array(items)) => {
                for item in items {
                    if self.holds(filter, item)? {
                        found.push(item);
                    }
                }
            }
            // An object is asked itself, not what is in it.
            (Pick::Filter(filter), Json::Object(_)) => {
                if self.holds(filter, at)? {
                    found.push(at);
                }
            }
            (
                Pick::Name(_)
                | Pick::Names(_)
                | Pick::Index(_)
                | Pick::Indexes(_)
                | Pick::Slice(_)
                | Pick::Filter(_),
                _,
            ) => {}
        }
        self.budget.spend(found.len() - before)
    }

    /// `['a','b']` at the end: an object of those that are there. Below `..`, only of all of them.
    fn objects(
        &mut self,
        places: Vec<&'v Json>,
        names: &[String],
        is_deep: bool,
    ) -> Option<Vec<Cow<'v, Json>>> {
        let mut objects = Vec::new();
        let mut open = places;
        open.reverse();
        while let Some(place) = open.pop() {
            self.budget.spend(names.len())?; // Each is looked up, whether it is there or not.
            if let Some(object) = place.as_object() {
                let entry = |name: &String| Some((name.clone(), object.get(name)?.clone()));
                let is_whole = names.iter().all(|name| object.get(name).is_some());
                if !is_deep || is_whole {
                    let entries: Object = names.iter().filter_map(entry).collect();
                    let made = Json::Object(entries);
                    self.budget.spend(made.size().nodes)?;
                    objects.push(Cow::Owned(made));
                }
            }
            if is_deep {
                let at = open.len();
                self.each(place, |_, child| {
                    open.push(child);
                    Some(())
                })?;
                open[at..].reverse();
            }
        }
        Some(objects)
    }
}

fn ends_in_names(steps: &[Step]) -> bool {
    matches!(steps.last(), Some(Step { pick: Pick::Names(_), .. }))
}

#[cfg(test)]
mod tests {
    use semel_model::Payload;

    use super::*;

    const PLENTY: usize = 1_000_000_000;

    /// Nodes visited by a path over a document, and how many places it found.
    fn visited(path: &str, document: &str) -> (usize, usize) {
        let document = Json::read(&Payload::from_text(document.to_owned()).unwrap());
        let query = Query::parse(path).unwrap();
        let roots: Vec<Root<'_>> = (0..=query.documents.len())
            .map(|_| Root { document: Some(&document), taken: 0 })
            .collect();
        let mut budget = Budget::new(PLENTY);
        let found = match answer(&query, &roots, &mut budget).unwrap() {
            Answer::One(found) => usize::from(found.is_some()),
            Answer::Many(found) => found.len(),
        };
        let visited = PLENTY - budget.left();
        budget = Budget::new(visited);
        assert!(answer(&query, &roots, &mut budget).is_some(), "{path}: just enough");
        budget = Budget::new(visited - 1);
        assert!(answer(&query, &roots, &mut budget).is_none(), "{path}: one too few");
        (visited, found)
    }

    fn rows(count: usize) -> String {
        let row = |at| format!(r#"{{"id":{at},"k":"row","l":[1,2,3]}}"#);
        let rows: Vec<String> = (0..count).map(row).collect();
        format!(r#"{{"rows":[{}],"ids":[0,1,2],"n":1}}"#, rows.join(","))
    }

    #[test]
    fn a_definite_path_visits_its_own_steps_however_large_the_document() {
        for count in [10, 50_000] {
            assert_eq!(visited("rows[7].l[-1]", &rows(count)), (8, 1));
            assert_eq!(visited("n", &rows(count)), (2, 1));
            assert_eq!(visited("nothing.at.all", &rows(count)), (1, 0));
        }
    }

    #[test]
    fn a_path_over_all_costs_as_much_as_there_is() {
        for path in [
            "rows[*].id",
            "rows[10:].l[0]",
            "$..id",
            "$..*",
            "rows[?(@.id > 3 && @.k == 'row')].id",
            "rows[?(@.k =~ /r.*/)].id",
            "rows[?(@.id in $.ids)].id",
            "rows[?(@.id == $.rows[*].id.max())].id",
            "rows[*].id.sum()",
        ] {
            let (small, _) = visited(path, &rows(1_000));
            let (large, _) = visited(path, &rows(4_000));
            assert!(large >= 3 * small && large <= 5 * small, "{path}: {small}, then {large}");
            assert!(large <= 4_000 * 100, "{path}: {large}");
        }
    }

    #[test]
    fn everything_below_everything_is_over_any_budget_soon() {
        let nested = (0..60).fold("1".to_owned(), |inside, _| format!("[{inside},[1,2,3,4,5]]"));
        let query = Query::parse("$..*..*..*").unwrap();
        let document = Json::read(&Payload::from_text(nested).unwrap());
        let root = || [Root { document: Some(&document), taken: 0 }];
        let mut budget = Budget::new(100_000);
        assert!(answer(&query, &root(), &mut budget).is_none());
        assert_eq!(budget.left(), 0);
    }

    #[test]
    fn names_and_positions_are_paid_for_whether_they_are_there_or_not() {
        let names: Vec<String> = (0..1_000).map(|at| format!("'x{at}'")).collect();
        let (names, positions) = (names.join(","), vec!["9"; 1_000].join(","));
        for path in [format!("rows[*][{names}].y"), format!("rows[*][{names}]")] {
            assert!(visited(&path, &rows(10)).0 >= 10 * 1_000, "{}", &path[..20]);
        }
        assert!(visited(&format!("rows[*].l[{positions}]"), &rows(10)).0 >= 10 * 1_000);
    }

    #[test]
    fn texts_that_are_alike_and_long_numbers_cost_what_there_is_to_read() {
        let long = "7".repeat(64_000);
        for (path, value) in [
            ("l[?(@ == $.b)]", format!("\"{long}\"")),
            ("l[?(@ < $.b)]", format!("\"{long}\"")),
            ("l[?(@ in $.s)]", format!("\"{long}\"")),
            ("l[?(@ == 7)]", format!("\"{long}\"")),
            ("l[?(@ == 7.5)]", long.clone()),
        ] {
            let text = format!(r#"{{"l":[{value},{value}],"b":{value},"s":[{value}]}}"#);
            let (nodes, _) = visited(path, &text);
            assert!(nodes > 2 * 1_000, "{path}: {nodes}");
        }
    }

    #[test]
    fn what_a_function_copies_is_paid_for() {
        let list = [r#"["aaaaaaaaaaaaaaaa",[1,2,3]]"#; 10].join(",");
        let (nodes, _) = visited("l.append(1)", &format!(r#"{{"l":[{list}]}}"#));
        assert!(nodes > 10 * 8, "{nodes}");
    }

    #[test]
    fn a_pattern_is_paid_for_by_its_size_and_the_text() {
        let document = |text: &str| format!(r#"{{"l":["{text}"]}}"#);
        let text = "a".repeat(40_000);
        let (short, _) = visited("l[?(@ =~ /a*/)]", &document(&text[..400]));
        let (long, _) = visited("l[?(@ =~ /a*/)]", &document(&text));
        let (heavy, _) = visited("l[?(@ =~ /(a{20}){5}.*/)]", &document(&text));
        assert!(long > 50 * short && heavy >= 3 * long, "{short}, {long}, {heavy}");
    }
}
