//! # Names: as much of one as an index holds
//!
//! A name may be of any length, and an entry of a B-tree may not. A longer one is kept as its
//! beginning and its digest: by its whole value it is found as before, by a pattern it is found by
//! its beginning, and it is taken for no other.

use std::borrow::Cow;

use semel_model::Digest;
use semel_store::within;

/// With its digest and what stands beside it, far below the 2,704 bytes of an entry.
const NAME_BYTES_MAX: usize = 1_000;

pub(super) fn kept(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME_BYTES_MAX {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{}{}", within(name, NAME_BYTES_MAX), Digest::of(name.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_is_no_other_name() {
        let long = "ü".repeat(2_000);
        let (one, other) = (kept(&long), kept(&long[..2_002]).into_owned());
        assert!(one.len() < 1_100 && one != other && one.starts_with("üü"));
        let short = "x".repeat(NAME_BYTES_MAX);
        assert_eq!(kept(&short), short);
        assert_ne!(kept(&one), one, "nobody can be called as it is kept");
    }
}
