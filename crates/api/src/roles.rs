//! # Roles: who may do what
//!
//! A reader sees, a worker takes and reports tasks, an operator does both and starts, steers and
//! defines, an admin does everything, also with secrets and keys.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Reader,
    Worker,
    Operator,
    Admin,
}

impl Role {
    /// Whether this role can do what `needed` can.
    pub(crate) fn covers(self, needed: Self) -> bool {
        match self {
            Self::Admin => true,
            Self::Operator => needed != Self::Admin,
            Self::Worker | Self::Reader => self == needed,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Worker => "worker",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

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
