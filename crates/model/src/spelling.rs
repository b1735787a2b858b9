//! # Spelling: which known name a mistyped one stands for

/// How many letters a mistyped name may differ in.
const DISTANCE_MAX: usize = 2;
/// A longer name is compared with nothing.
const NAME_CHARS_MAX: usize = 80;

/// The known name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = plain(name);
    if given.is_empty() || given.len() > NAME_CHARS_MAX {
        return None;
    }
    let near = known.map(|known| (distance(&given, &plain(known)), known));
    let (distance, found) = near.min()?;
    (distance <= DISTANCE_MAX && distance * 2 < given.len()).then_some(found)
}

/// The known name that has the same letters, or all of them but one.
pub fn almost<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let found = nearest(name, known)?;
    (distance(&plain(name), &plain(found)) <= 1).then_some(found)
}

/// `retry_count` and `RetryCount` are `retryCount` to the person who writes them.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters have to be put in, taken out or changed.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_meant_that_differs_in_case_or_in_few_letters() {
        let known = ["input", "idempotencyKey", "idempotencyStrategy", "name"];
        let meant = |name: &str| nearest(name, known.into_iter());
        for (name, expected) in [
            ("inptu", Some("input")),
            ("idempotencykey", Some("idempotencyKey")),
            ("idempotency_key", Some("idempotencyKey")),
            ("Name", Some("name")),
            ("colour", None),
            ("n", None),
            ("", None),
        ] {
            assert_eq!(meant(name), expected, "{name}");
        }
        assert_eq!(meant(&"x".repeat(1_000)), None);
    }

    #[test]
    fn one_letter_is_almost_the_name_and_two_are_not() {
        let known = ["DO_WHILE", "HTTP"];
        assert_eq!(almost("doWhile", known.into_iter()), Some("DO_WHILE"));
        assert_eq!(almost("HTTTP", known.into_iter()), Some("HTTP"));
        assert_eq!(almost("DO_WHILES", known.into_iter()), Some("DO_WHILE"));
        assert_eq!(almost("DO_WHALES", known.into_iter()), None);
    }
}
