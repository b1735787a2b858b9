//! # TLS: a database that speaks nothing else
//!
//! Its certificate is signed by an authority made for this test. A server trusts it if it was told of
//! the authority, and if the certificate is for the name in the address.

use std::path::Path;
use std::process::Command;

use semel_tests::postgres::Postgres;
use semel_tests::process::binary;
use tempfile::TempDir;

/// An authority, a stranger, and a certificate for `localhost` that the first has signed.
const MAKE: &str = r#"
set -e
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" \
        -addext basicConstraints=critical,CA:TRUE
}
authority ours
authority stranger
openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr
printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n' >extensions
openssl x509 -req -in server.csr -CA ours.pem -CAkey ours.key -CAcreateserial -days 2 \
    -extfile extensions -out server.pem
"#;

fn certificates() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let made = Command::new("sh").args(["-c", MAKE]).current_dir(directory.path()).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    directory
}

/// Whether tables can be made there, and what was said.
fn migrated(url: &str, authority: &Path) -> (bool, String) {
    let mut migrate = Command::new(binary().unwrap());
    migrate.env_clear().env("SSL_CERT_FILE", authority).args(["migrate", "--store", url]);
    let done = migrate.output().unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_database_is_spoken_to_by_tls_if_it_is_who_it_says() {
    let made = certificates();
    let file = |name: &str| made.path().join(name);
    let server = Postgres::start().unwrap();
    let url = server.database().unwrap();
    server.speak_tls_only(&file("server.pem"), &file("server.key")).unwrap();
    let at = |host: &str, mode: &str| format!("{}?sslmode={mode}", url.replace("127.0.0.1", host));
    let (is_done, said) = migrated(&at("localhost", "require"), &file("ours.pem"));
    assert!(is_done, "{said}");
    for (url, authority, why) in [
        (at("localhost", "require"), "stranger.pem", "of an authority nobody knows"),
        (at("127.0.0.1", "require"), "ours.pem", "for another name"),
        (at("localhost", "disable"), "ours.pem", "not asked for"),
    ] {
        let (is_done, said) = migrated(&url, &file(authority));
        assert!(!is_done, "a certificate {why}: {said}");
        assert!(said.contains("PostgreSQL at"), "it says which one: {said}");
    }
}
