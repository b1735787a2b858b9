//! # Roles: who may do what
//!
//! Every endpoint names the roles it takes. What the other servers' roles are called maps onto ours.

use std::collections::BTreeSet;

pub(crate) use semel_runtime::Role;

/// Who may call an endpoint: anybody, or whoever has one of these roles.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    Anyone,
    Roles(&'static [Role]),
}

pub(crate) const ANYONE: Access = Access::Anyone;
pub(crate) const READ: Access = Access::Roles(&[Role::Reader]);
pub(crate) const WORK: Access = Access::Roles(&[Role::Worker]);
/// What both readers and workers need: one task and its log.
pub(crate) const FOLLOW: Access = Access::Roles(&[Role::Reader, Role::Worker]);
pub(crate) const OPERATE: Access = Access::Roles(&[Role::Operator]);
pub(crate) const ADMINISTER: Access = Access::Roles(&[Role::Admin]);

impl Access {
    pub(crate) fn lets_in(self, roles: &BTreeSet<Role>) -> bool {
        match self {
            Self::Anyone => true,
            Self::Roles(needed) => {
                needed.iter().any(|needed| roles.iter().any(|role| covers(*role, *needed)))
            }
        }
    }

    /// `reader or worker`.
    pub(crate) fn needed(self) -> String {
        match self {
            Self::Anyone => "none".to_owned(),
            Self::Roles(roles) => {
                roles.iter().map(|role| name(*role)).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

/// Whether this role can do what `needed` can.
fn covers(role: Role, needed: Role) -> bool {
    match role {
        Role::Admin => true,
        Role::Operator => needed != Role::Admin,
        Role::Worker | Role::Reader => role == needed,
    }
}

pub(crate) fn name(role: Role) -> &'static str {
    match role {
        Role::Reader => "reader",
        Role::Worker => "worker",
        Role::Operator => "operator",
        Role::Admin => "admin",
    }
}

/// Names that clients know; some of them check what they receive against their own list.
pub(crate) fn wire_names(role: Role) -> &'static [&'static str] {
    match role {
        Role::Reader => &["USER"],
        Role::Worker => &["WORKER"],
        Role::Operator => &["METADATA_MANAGER", "WORKFLOW_MANAGER"],
        Role::Admin => &["ADMIN"],
    }
}

/// Ours or theirs, in any case.
pub(crate) fn read(text: &str) -> Option<Role> {
    let all = [Role::Reader, Role::Worker, Role::Operator, Role::Admin];
    all.into_iter().find(|role| {
        let mut names = wire_names(*role).iter().copied().chain([name(*role)]);
        names.any(|name| name.eq_ignore_ascii_case(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_lets_in_where_it_is_named_or_covered() {
        let lets_in = |access: Access| {
            [Role::Reader, Role::Worker, Role::Operator, Role::Admin]
                .map(|role| access.lets_in(&BTreeSet::from([role])))
        };
        assert_eq!(lets_in(READ), [true, false, true, true]);
        assert_eq!(lets_in(WORK), [false, true, true, true]);
        assert_eq!(lets_in(FOLLOW), [true, true, true, true]);
        assert_eq!(lets_in(OPERATE), [false, false, true, true]);
        assert_eq!(lets_in(ADMINISTER), [false, false, false, true]);
        assert!(!FOLLOW.lets_in(&BTreeSet::new()) && ANYONE.lets_in(&BTreeSet::new()));
    }

    #[test]
    fn both_their_names_and_ours_are_read() {
        for (text, role) in [
            ("USER", Role::Reader),
            ("WORKER", Role::Worker),
            ("METADATA_MANAGER", Role::Operator),
            ("WORKFLOW_MANAGER", Role::Operator),
            ("ADMIN", Role::Admin),
            ("operator", Role::Operator),
            ("Reader", Role::Reader),
        ] {
            assert_eq!(read(text), Some(role), "{text}");
        }
        assert_eq!((read("root"), read("")), (None, None));
    }
}
