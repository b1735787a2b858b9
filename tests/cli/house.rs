//! # The house: a server, and the binary that talks to it

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use semel_tests::process::{Caller, Server, binary};
use serde_json::{Value, json};

pub(crate) struct House {
    pub(crate) server: Server,
    directory: tempfile::TempDir,
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("words are UTF-8");
        let code = output.status.code();
        Self { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The one line on stdout.
    pub(crate) fn word(&self) -> &str {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        self.stdout.trim_end()
    }

    /// The columns of the one line that has this word in it.
    pub(crate) fn row(&self, word: &str) -> Vec<&str> {
        let mut rows = self.stdout.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let row = rows.find(|row| row.contains(&word));
        row.unwrap_or_else(|| panic!("no {word} in {self:?}"))
    }
}

/// Runs the binary in an environment of its own, and a directory of its own.
pub(crate) fn semel_in(directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
    let mut command = Command::new(binary().expect("the binary is built"));
    command.env_clear().envs(variables.iter().copied()).current_dir(directory).args(arguments);
    Said::of(command.output().expect("the binary runs"))
}

/// The one house for everybody, as long as somebody is in it.
pub(crate) fn house() -> Arc<House> {
    static SHARED: Mutex<Weak<House>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let house = Arc::new(House::own());
        *shared = Arc::downgrade(&house);
        house
    })
}

impl House {
    pub(crate) fn own() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let server = Server::start(directory.path(), &[]);
        let server = server.unwrap_or_else(|error| panic!("the server does not start: {error:#}"));
        Self { server, directory }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.server.address())
    }

    pub(crate) fn data(&self) -> String {
        self.path("data")
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().expect("paths are UTF-8").to_owned()
    }

    pub(crate) fn semel(&self, arguments: &[&str]) -> Said {
        let address = self.address();
        semel_in(self.directory.path(), arguments, &[("SEMEL_SERVER", address.as_str())])
    }

    pub(crate) fn caller(&self) -> Caller {
        self.server.caller().expect("a client can be made")
    }

    /// A file in this house.
    pub(crate) fn file(&self, name: &str, content: &Value) -> String {
        let path = self.path(name);
        std::fs::write(&path, content.to_string()).expect("a file can be written");
        path
    }

    /// Registers a workflow of one worker task, both of that name, by the binary.
    pub(crate) fn define(&self, name: &str) {
        let task = json!({"name": name, "retryCount": 1, "retryDelaySeconds": 600});
        self.semel(&["task", "create", &self.file(&format!("{name}.task.json"), &task)]).ok();
        let workflow = self.file(&format!("{name}.json"), &definition(name, "SIMPLE"));
        self.semel(&["workflow", "create", &workflow]).ok();
    }

    pub(crate) fn start(&self, name: &str) -> String {
        self.semel(&["workflow", "start", name]).ok().word().to_owned()
    }
}

/// A workflow of one step.
pub(crate) fn definition(name: &str, kind: &str) -> Value {
    json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [
        {"name": name, "taskReferenceName": "only", "type": kind,
         "inputParameters": {"given": "${workflow.input.given}"}}]})
}
