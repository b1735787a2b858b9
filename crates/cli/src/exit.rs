//! # Exit codes: what a script can know without reading words

use semel_client::ClientError;
use semel_server::{
    AcceptError, BackupError, CannotAccept, CannotBackUp, CannotCopy, CannotRaise, CannotSetBack,
    ConfigError, SetBackError,
};

pub(crate) const FAILED: u8 = 1;
pub(crate) const ASKED_WRONGLY: u8 = 2;
pub(crate) const UNREACHABLE: u8 = 3;
pub(crate) const NOT_FOUND: u8 = 4;
pub(crate) const CONFLICT: u8 = 5;
pub(crate) const REFUSED: u8 = 6;
pub(crate) const UNAUTHORISED: u8 = 7;
pub(crate) const TRY_AGAIN: u8 = 8;
pub(crate) const WARNED: u8 = 9;

/// Shown below `semel --help`.
pub(crate) const WORDS: &str = "\
Exit codes:
  0  done
  1  failed in a way that has no code of its own
  2  asked wrongly: command line, configuration or a file that cannot be read
  3  no server answers
  4  there is no such thing
  5  conflict: it exists already, or is in the wrong state
  6  refused: the server names what is wrong with the request
  7  not authorised
  8  not now; asking again is safe
  9  doctor found warnings and nothing worse";

/// The command line was well formed, what it names is not.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AskedWrongly(pub(crate) String);

/// A look at many things, whose worst is the verdict; all words were said already.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Verdict {
    pub(crate) words: &'static str,
    pub(crate) code: u8,
}

/// Whether nobody reads any more what is written to stdout, as after `| head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let own = error.downcast_ref::<std::io::Error>();
    own.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

pub(crate) fn code(error: &anyhow::Error) -> u8 {
    if error.is::<ConfigError>() || error.is::<AskedWrongly>() {
        return ASKED_WRONGLY;
    }
    if let Some(verdict) = error.downcast_ref::<Verdict>() {
        return verdict.code;
    }
    if let Some(error) = error.downcast_ref::<ClientError>() {
        return of_client(error);
    }
    match error.downcast_ref::<CannotCopy>() {
        Some(CannotCopy::NoData { .. }) => return NOT_FOUND,
        Some(error) if error.is_conflict() => return CONFLICT,
        Some(error) if error.is_asked_wrongly() => return ASKED_WRONGLY,
        Some(_) | None => {}
    }
    match error.downcast_ref::<CannotRaise>() {
        Some(CannotRaise::NoData { .. }) => return NOT_FOUND,
        Some(CannotRaise::Memory) => return ASKED_WRONGLY,
        Some(CannotRaise::Open(error)) if error.is_served() => return CONFLICT,
        Some(CannotRaise::Open(_) | CannotRaise::Store(_)) | None => {}
    }
    match error.downcast_ref::<CannotAccept>() {
        Some(CannotAccept::Failed(AcceptError::NoData { .. })) => return NOT_FOUND,
        Some(CannotAccept::Memory | CannotAccept::Postgres) => return ASKED_WRONGLY,
        Some(CannotAccept::Failed(error)) if error.is_served() => return CONFLICT,
        Some(CannotAccept::Failed(_)) | None => {}
    }
    match error.downcast_ref::<CannotSetBack>() {
        Some(CannotSetBack::Failed(SetBackError::NoData { .. })) => return NOT_FOUND,
        Some(CannotSetBack::Memory) => return ASKED_WRONGLY,
        Some(error) if error.is_served() => return CONFLICT,
        Some(CannotSetBack::Failed(_) | CannotSetBack::Database(_)) | None => {}
    }
    match error.downcast_ref::<CannotBackUp>() {
        Some(CannotBackUp::Memory | CannotBackUp::Postgres) => ASKED_WRONGLY,
        Some(CannotBackUp::Failed(BackupError::NoData { .. })) => NOT_FOUND,
        Some(CannotBackUp::Failed(BackupError::Taken { .. })) => CONFLICT,
        Some(CannotBackUp::Failed(_)) | None => FAILED,
    }
}

fn of_client(error: &ClientError) -> u8 {
    match error {
        ClientError::Address(_) | ClientError::Name(_) => ASKED_WRONGLY,
        ClientError::Unreachable { .. }
        | ClientError::Lost { .. }
        | ClientError::Cut { .. }
        | ClientError::Silent { .. } => UNREACHABLE,
        ClientError::NotFound(_) => NOT_FOUND,
        ClientError::Conflict(_) => CONFLICT,
        ClientError::Refused(_) => REFUSED,
        ClientError::Unauthorised(_) => UNAUTHORISED,
        ClientError::TryAgain(_) => TRY_AGAIN,
        ClientError::Failed(_) | ClientError::Unreadable(_) | ClientError::TooLarge(_) => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn wrong_configuration_exits_with_2_and_what_has_no_code_with_1() {
        let wrong = ConfigError::UnknownKey { key: "a".to_owned(), path: "b".into() };
        let wrong = Err::<(), _>(wrong).context("cannot start").unwrap_err();
        assert_eq!(code(&wrong), ASKED_WRONGLY);
        assert_eq!(code(&anyhow::anyhow!("disk is full")), FAILED);
    }

    #[test]
    fn a_reader_that_has_read_enough_is_no_failure() {
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&anyhow::Error::from(closed)));
        let other = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(!is_closed_pipe(&anyhow::Error::from(other)));
        assert!(!is_closed_pipe(&anyhow::anyhow!("disk is full")));
    }

    #[test]
    fn every_code_is_explained() {
        let codes = [
            0,
            FAILED,
            ASKED_WRONGLY,
            UNREACHABLE,
            NOT_FOUND,
            CONFLICT,
            REFUSED,
            UNAUTHORISED,
            TRY_AGAIN,
            WARNED,
        ];
        for (at, code) in codes.into_iter().enumerate() {
            assert_eq!(usize::from(code), at);
            assert!(WORDS.contains(&format!("\n  {code}  ")), "{code}");
        }
    }
}
