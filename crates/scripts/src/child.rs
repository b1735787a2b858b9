//! # The child: where a script runs that could not be stopped otherwise
//!
//! Reads requests, writes answers, one at a time, until its input ends. It bounds its own memory,
//! so that a script that takes all ends the child and nobody else; the kernel gives it neither files nor network;
//! it dies with its parent; and a panic ends it. **May not:** be trusted by its parent with anything but an answer.

use std::io::{self, Read, Write};
use std::thread;

use semel_engine::Script;

use crate::budget::{Budget, CHILD_STACK_BYTES};
use crate::seal::seal;
use crate::{evaluate, frame};

/// The command of the one binary that calls [`serve`].
pub const COMMAND: &str = "script-child";

/// Serves on stdin and stdout. To be called by a process that is there for nothing else.
pub fn serve() -> io::Result<()> {
    confine()?;
    // The main thread's stack has whatever size somebody's shell says.
    let serving = thread::Builder::new().name("script".to_owned()).stack_size(CHILD_STACK_BYTES);
    let served = serving.spawn(|| {
        // Where that cannot be, a child is confined as above; its parent looks, and says so.
        drop(seal());
        converse(&mut io::stdin().lock(), &mut io::stdout().lock())
    })?;
    served.join().unwrap_or_else(|_| Err(io::Error::other("evaluating a script panicked")))
}

fn converse(requests: &mut impl Read, answers: &mut impl Write) -> io::Result<()> {
    while let Some(request) = frame::read(requests)? {
        let (script, budget): (Script, Budget) = serde_json::from_slice(&request)?;
        let verdict = evaluate(&script, &budget);
        frame::write(answers, &serde_json::to_vec(&verdict)?)?;
    }
    Ok(())
}

#[cfg(unix)]
fn confine() -> io::Result<()> {
    use crate::budget::{CHILD_BYTES_MAX, CHILD_NICENESS};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    for (resource, most) in [(Resource::Core, 0), (Resource::As, CHILD_BYTES_MAX)] {
        let most = getrlimit(resource).maximum.unwrap_or(most).min(most);
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // Whoever waits for a script waits for the server as well.
    rustix::process::nice(CHILD_NICENESS)?;
    // Its input ends with the parent too, but a busy child does not look.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

#[cfg(not(unix))]
fn confine() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use semel_engine::{Language, Verdict};
    use semel_model::{Payload, TaskId, Timestamp};

    use super::*;

    #[test]
    fn every_request_is_answered_in_turn_until_the_input_ends() {
        let mut requests = Vec::new();
        for source in ["1 + 1", "nope"] {
            let script = Script {
                language: Language::JavaScript,
                source: source.to_owned(),
                input: Payload::empty(),
                now: Timestamp::NOT_YET,
                seed: TaskId::from_bytes([0; 16]),
            };
            let request = serde_json::to_vec(&(script, Budget::default())).unwrap();
            frame::write(&mut requests, &request).unwrap();
        }
        let mut answers = Vec::new();
        converse(&mut requests.as_slice(), &mut answers).unwrap();

        let mut answers = answers.as_slice();
        let mut next = || -> Verdict {
            serde_json::from_slice(&frame::read(&mut answers).unwrap().unwrap()).unwrap()
        };
        assert_eq!(next(), Verdict::Value(Payload::from_text("2".to_owned()).unwrap()));
        assert!(matches!(next(), Verdict::Failed(_)));
        assert!(answers.is_empty());
    }

    #[test]
    fn a_request_that_is_none_ends_the_child() {
        let mut requests = Vec::new();
        frame::write(&mut requests, b"{}").unwrap();
        assert!(converse(&mut requests.as_slice(), &mut Vec::new()).is_err());
    }
}
