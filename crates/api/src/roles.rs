//! # Roles: who may do what
//!
//! Every endpoint names the roles it takes. What the other servers' roles are called maps onto ours.

use std::collections::BTreeSet;

use semel_runtime::Application;
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

/// What Orkes calls roles, and what each may do here. Applications and prompts are managed by an admin
/// or not at all, so that those roles only see.
const THEIRS: [(&str, Role); 11] = [
    ("ADMIN", Role::Admin),
    ("USER", Role::Reader),
    ("WORKER", Role::Worker),
    ("METADATA_MANAGER", Role::Operator),
    ("WORKFLOW_MANAGER", Role::Operator),
    ("METADATA_API", Role::Operator),
    ("UNRESTRICTED_WORKER", Role::Worker),
    ("USER_READ_ONLY", Role::Reader),
    ("APPLICATION_MANAGER", Role::Reader),
    ("APPLICATION_CREATOR", Role::Reader),
    ("PROMPT_MANAGER", Role::Reader),
];

/// Names that clients know; some of them check what they receive against their own list.
fn wire_names(role: Role) -> &'static [&'static str] {
    match role {
        Role::Reader => &["USER"],
        Role::Worker => &["WORKER"],
        Role::Operator => &["METADATA_MANAGER", "WORKFLOW_MANAGER"],
        Role::Admin => &["ADMIN"],
    }
}

/// Ours or theirs, in any case: the role, and the name as it is spelled.
pub(crate) fn read(text: &str) -> Option<(Role, &'static str)> {
    let ours = [Role::Reader, Role::Worker, Role::Operator, Role::Admin];
    let ours = ours.into_iter().map(|role| (name(role), role));
    let mut all = THEIRS.into_iter().chain(ours);
    let (name, role) = all.find(|(name, _)| name.eq_ignore_ascii_case(text))?;
    Some((role, name))
}

/// Gives a role under a name.
pub(crate) fn grant(application: &mut Application, role: Role, name: &str) {
    application.roles.insert(role);
    application.role_names.insert(name.to_owned());
}

/// Takes a name away, and the role with the last of its names.
pub(crate) fn revoke(application: &mut Application, role: Role, name: &str) {
    application.role_names.remove(name);
    let mut names = application.role_names.iter();
    if !names.any(|name| read(name).is_some_and(|(other, _)| other == role)) {
        application.roles.remove(&role);
    }
}

/// What clients are told: the names that were given, and for ours those that clients know.
pub(crate) fn shown(application: &Application) -> Vec<&str> {
    let mut shown: Vec<&str> = Vec::new();
    for role in &application.roles {
        let given = application.role_names.iter().map(String::as_str);
        let theirs =
            given.filter(|given| THEIRS.iter().any(|(name, known)| name == given && known == role));
        let theirs: Vec<&str> = theirs.collect();
        let is_ours = application.role_names.contains(name(*role)) || theirs.is_empty();
        let known: &[&str] = if is_ours { wire_names(*role) } else { &[] };
        for name in known.iter().copied().chain(theirs) {
            if !shown.contains(&name) {
                shown.push(name);
            }
        }
    }
    shown
}

/// What whoever may do everything is told.
pub(crate) fn shown_to_anonymous() -> Vec<&'static str> {
    wire_names(Role::Admin).to_vec()
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
            assert_eq!(read(text).map(|(role, _)| role), Some(role), "{text}");
        }
        assert_eq!(read("metadata_api"), Some((Role::Operator, "METADATA_API")));
        for (name, role) in THEIRS {
            assert_eq!(read(name), Some((role, name)));
        }
        assert_eq!((read("root"), read("")), (None, None));
    }
}
