//! # Own words: what the server says of its API, said of the command line
//!
//! A refusal names the parameter that would help. Whoever typed a command has a flag instead.

/// What the API calls it, and what the flag is. A name of a parameter comes with its value.
const WORDS: [(&str, &str); 14] = [
    ("pass overwrite=true", "say --force"),
    ("add force=true", "add --force"),
    ("as freeText", "with --text"),
    ("a correlationId", "--correlation-id"),
    ("name it as workerid", "name it with --worker"),
    ("redoEffects=true", "--redo-effects"),
    ("onUnknown=takeover", "`semel effect resolve`"),
    ("strict=true", "--strict"),
    (
        "say {\"_effect\": {\"applied\": true or false}} in its output",
        "say --applied true or --applied false",
    ),
    ("force=true", "--force"),
    ("overwrite=true", "--force"),
    ("an idempotencyKey", "--key"),
    (" idempotencyStrategy", " --strategy"),
    (" idempotencyKey", " --key"),
];

pub(crate) fn own_words(said: &str) -> String {
    WORDS.iter().fold(without_routes(said), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// A route in brackets stands beside a command that does the same.
fn without_routes(said: &str) -> String {
    let mut rest = said;
    let mut text = String::new();
    while let Some((before, route)) = rest.split_once(" (POST /api/") {
        text.push_str(before);
        rest = route.split_once(')').map_or("", |(_, after)| after);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_api_are_told_as_flags() {
        for (theirs, ours) in [
            ("it exists: pass overwrite=true", "it exists: say --force"),
            (
                "wait for its report, or add force=true to end",
                "wait for its report, or add --force to end",
            ),
            ("say so (POST /api/effects/a/b/resolve): semel", "say so: semel"),
            ("with force=true only", "with --force only"),
            ("a run exists under idempotencyKey k: r", "a run exists under --key k: r"),
            ("disk is full", "disk is full"),
        ] {
            assert_eq!(own_words(theirs), ours);
        }
    }
}
