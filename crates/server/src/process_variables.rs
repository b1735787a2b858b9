//! # Process variables: the few a workflow may read
//!
//! `CONDUCTOR_ENV_NAME` is read as `NAME`, and `NETFLIX_*` as it is. Every other variable of the
//! process is nobody's business: no expression can name what is not taken in here.

use std::collections::BTreeMap;

const PREFIX: &str = "CONDUCTOR_ENV_";
const ALSO: &str = "NETFLIX_";

pub(crate) fn readable(
    variables: impl IntoIterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    for (name, value) in variables {
        if let Some(name) = name.strip_prefix(PREFIX) {
            ours.insert(name.to_owned(), value);
        } else if name.starts_with(ALSO) {
            theirs.insert(name, value);
        }
    }
    theirs.extend(ours);
    theirs.retain(|name, _| is_name(name));
    theirs
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_meant_for_workflows_is_readable() {
        let given = [
            ("CONDUCTOR_ENV_REGION", "eu"),
            ("CONDUCTOR_ENV_", "nothing"),
            ("CONDUCTOR_ENV_a.b", "no name"),
            ("CONDUCTOR_ENV_NETFLIX_STACK", "ours"),
            ("NETFLIX_STACK", "theirs"),
            ("NETFLIX_ENV", "test"),
            ("PATH", "/bin"),
            ("SEMEL_SECRETS_KEY", "key"),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let read: Vec<(String, String)> = readable(given).into_iter().collect();
        let wanted = [("NETFLIX_ENV", "test"), ("NETFLIX_STACK", "ours"), ("REGION", "eu")];
        assert_eq!(read, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
