//! # `semel doctor`, and what every command has in common

use crate::house::{House, semel_in};

#[test]
fn a_healthy_house_is_all_ok() {
    let house = House::own();
    let said = house.semel(&["doctor", "--data", &house.data()]);
    let checks: Vec<(&str, &str)> = said
        .stdout
        .lines()
        .map(|line| {
            let mut cells = line.split('\t');
            (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
        })
        .collect();
    // The machine that runs this may have little room on its disk.
    for (level, check) in checks.iter().filter(|(_, check)| *check != "disk") {
        assert_eq!(*level, "ok", "{check}: {said:?}");
    }
    for check in [
        "configuration",
        "data",
        "files",
        "scripts",
        "lock",
        "schema",
        "secrets",
        "key file",
        "clock",
        "server",
        "version",
    ] {
        assert!(checks.iter().any(|(_, found)| *found == check), "{check}: {said:?}");
    }
    assert!(said.stdout.contains("a server holds the directory"), "{said:?}");
}

#[test]
fn what_is_wrong_is_named_with_what_to_do_and_the_worst_is_the_exit_code() {
    let mut house = House::own();
    let data = house.data();
    house.caller().put_text("/api/secrets/s", "hidden").expect("a secret can be stored");
    house.server.stop().expect("it stops");
    let key = std::path::Path::new(&data).join("secrets.key");
    set_mode(&key, 0o644);
    let listen = ["--listen", "127.0.0.1:1"];
    let doctor = || {
        let arguments = [&["doctor", "--data", &data], &listen[..]].concat();
        semel_in(std::path::Path::new(&data), &arguments, &[])
    };
    let said = doctor();
    assert_eq!(said.row("key file")[0], "warn", "{said:?}");
    assert!(said.row("key file")[2].contains("chmod 600"), "{said:?}");
    assert_eq!(said.row("files")[0], "warn", "{said:?}");
    assert!(said.row("files")[2].contains("secrets.key (644)"), "{said:?}");
    assert_eq!(said.row("server")[0], "warn", "{said:?}");
    assert!(said.row("secrets")[2].contains("opens all 1"), "{said:?}");
    assert!(matches!(said.code, Some(1 | 9)), "{said:?}");
    std::fs::remove_file(&key).expect("the key can be removed");
    let said = doctor();
    assert_eq!((said.code, said.row("secrets")[0]), (Some(1), "fail"), "{said:?}");
    let named = semel_in(
        std::path::Path::new(&data),
        &["doctor", "--data", &data, "--server", "http://127.0.0.1:1", "--json"],
        &[],
    );
    assert_eq!(named.code, Some(1));
    let findings = named.json();
    let server = findings.as_array().into_iter().flatten().find(|one| one["check"] == "server");
    assert_eq!(server.map(|one| &one["level"]), Some(&"fail".into()), "{findings}");
    let config = semel_in(std::path::Path::new(&data), &["doctor", "--listen", "nowhere"], &[]);
    assert_eq!((config.code, config.row("configuration")[0]), (Some(1), "fail"), "{config:?}");
}

#[cfg(unix)]
fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn help_names_the_exit_codes_and_every_shell_gets_completions() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let help = semel_in(directory.path(), &["--help"], &[]).ok();
    assert!(help.stdout.contains("Exit codes:") && help.stdout.contains("3  no server answers"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = semel_in(directory.path(), &["completions", shell], &[]).ok().stdout;
        assert!(script.contains("rotate-secrets-key") && script.contains("skip-task"), "{shell}");
    }
    assert_eq!(semel_in(directory.path(), &["completions", "tcsh"], &[]).code, Some(2));
}
