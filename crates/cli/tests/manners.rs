//! # The binary's manners: data to stdout, words to stderr, exit codes that mean something
//!
//! **May not:** see the real environment; each run gets an empty one and a directory of its own.

use std::process::{Command, Output};

fn semel(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let directory = tempfile::tempdir().expect("a directory to run in");
    let mut command = Command::new(env!("CARGO_BIN_EXE_semel"));
    command.args(arguments).env_clear().envs(variables.iter().copied());
    command.current_dir(directory.path()).output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("words are UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("words are UTF-8")
}

#[test]
fn version_goes_to_stdout() {
    let output = semel(&["--version"], &[]);
    assert!(output.status.success());
    assert_eq!(stdout(&output), format!("semel {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    for arguments in [&["completions", "bash"][..], &["config"], &["--help"]] {
        let directory = tempfile::tempdir().expect("a directory to run in");
        let mut command = Command::new(env!("CARGO_BIN_EXE_semel"));
        command.args(arguments).env_clear().current_dir(directory.path());
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader); // As `| head` does, but before anything is written.
        let output = command.stdout(writer).stderr(std::process::Stdio::piped()).output();
        let output = output.expect("the binary runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn help_has_examples_and_headings_of_its_own() {
    let help = |arguments: &[&str]| {
        let output = semel(&[arguments, &["--help"]].concat(), &[]);
        assert!(output.status.success(), "{arguments:?}");
        stdout(&output)
    };
    for command in ["workflow", "task", "effect", "lock", "key", "explain", "lint"] {
        let text = help(&[command]);
        assert!(text.contains("\nExample") && text.contains("  semel "), "{command}: {text}");
        assert!(text.contains("\nServer:\n"), "{command}: {text}");
    }
    let start = help(&["workflow", "start"]);
    for strategy in [
        "FAIL ",
        "RETURN_EXISTING ",
        "FAIL_ON_RUNNING ",
        "RETURN_EXISTING_UNLESS_FAILED ",
        "RETURN_RUNNING ",
        "TERMINATE_EXISTING ",
    ] {
        assert!(start.contains(&format!("\n  {strategy}")), "{strategy}: {start}");
    }
    let own = |text: &str| text.split("\nServer:").next().unwrap_or_default().to_owned();
    assert!(own(&help(&["lint"])).contains("--strict"), "its own flags are not the server's");
    assert!(own(&help(&["workflow", "search"])).contains("--key"));
}

#[test]
fn config_prints_every_source_and_nothing_else() {
    let output = semel(&["config", "--log", "warn"], &[("SEMEL_STORE", "memory")]);
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
    let text = stdout(&output);
    let has = |expected: &[&str]| {
        text.lines().any(|line| line.split_whitespace().eq(expected.iter().copied()))
    };
    assert!(has(&["log", "warn", "--log"]), "{text}");
    assert!(has(&["store", "memory", "SEMEL_STORE"]), "{text}");
    assert!(has(&["cors_origins", "-", "default"]), "{text}");
    assert!(has(&["shutdown_ms", "10000", "default"]), "{text}");
}

#[test]
fn wrong_configuration_is_one_line_on_stderr_and_exit_2() {
    for command in ["config", "server"] {
        let output = semel(&[command, "--listen", "0.0.0.0:8080"], &[]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(stdout(&output), "");
        let words = stderr(&output);
        assert!(words.starts_with("semel: listen = 0.0.0.0:8080 (from --listen)"), "{words}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
}

#[test]
fn wrong_usage_is_exit_2() {
    for arguments in [&[][..], &["serve"], &["server", "--prot", "1"]] {
        let output = semel(arguments, &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_missing_configuration_file_says_why() {
    let output = semel(&["config", "--config", "gone.toml"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(words.contains("gone.toml") && words.contains("\n  because: "), "{words}");
}

#[test]
fn the_process_for_scripts_is_nobodys_to_type() {
    for arguments in [&["--help"][..], &["completions", "bash"], &["completions", "zsh"]] {
        let output = semel(arguments, &[]);
        assert!(output.status.success(), "{arguments:?}");
        assert!(!stdout(&output).contains("script-child"), "{arguments:?}");
    }
    // It is there all the same, and ends with its input.
    assert!(semel(&["script-child"], &[]).status.success());
}
