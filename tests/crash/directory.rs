//! # The directory: one server each, and disks that end

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use semel_tests::process::{Caller, DEADLINE, Server, is_full, refused, until};
use serde_json::{Value, json};

use crate::load::define;

#[test]
fn a_second_server_on_the_same_directory_is_refused() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut first = Server::start(directory.path(), &[])?;
    let (ended, words) = refused(directory.path(), &[])?;
    assert_eq!(ended.code(), Some(1), "{words}");
    let data = directory.path().join("data");
    for part in
        [data.to_str().expect("a plain path"), "used by another process", "stop that process"]
    {
        assert!(words.contains(part), "{part:?} is not in {words}");
    }
    assert_eq!(first.caller()?.get("/health")?.status, 200);
    first.kill9()?;
    first.restart()?; // A lock must not outlive its process.
    first.stop()
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room_again() -> Result<()> {
    if !is_full() {
        eprintln!("not run: mounts a small tmpfs, which takes root and SEMEL_FULL=1");
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let disk = Disk::mounted(directory.path())?;
    let mut server = Server::start(directory.path(), &[])?;
    let caller = server.caller()?;
    define(&caller, "filling", &["fill"], 60)?;
    let first = start(&caller)?.expect("there is room for one");
    disk.fill()?;
    let mut ids = vec![first];
    until("the disk is full", DEADLINE, || match start(&caller) {
        Ok(Some(id)) => {
            ids.push(id);
            None
        }
        refused => Some(refused),
    })??;
    for id in &ids {
        ensure!(caller.get(&format!("/api/workflow/{id}"))?.status == 200, "reads go on");
    }
    let health = caller.get("/health")?;
    ensure!(health.status == 503, "the health says that writes are refused: {health:?}");
    let store = &health.json()["healthResults"][0];
    ensure!(store["name"] == "store" && store["healthy"] == false, "{health:?}");
    ensure!(store["message"].as_str().is_some_and(|why| why.contains("full")), "{health:?}");
    disk.free()?;
    until("the health is back by itself", DEADLINE, || {
        caller.get("/health").ok().filter(|answer| answer.status == 200)
    })?;
    let after = until("writes go on", DEADLINE, || start(&caller).ok().flatten())?;
    ids.push(after);
    server.kill9()?;
    server.restart()?;
    for id in &ids {
        let path = format!("/api/workflow/{id}/verify");
        let verified = caller.insist(reqwest::Method::POST, &path, None)?;
        ensure!(verified.status == 200, "{verified:?}");
    }
    server.stop()
}

/// The id, or none if the server said that it cannot write: 503, retryable, no other way.
fn start(caller: &Caller) -> Result<Option<String>> {
    let input = json!({"text": "x".repeat(20_000)});
    let answer = caller.post("/api/workflow/filling", &input)?;
    if answer.status == 200 {
        return Ok(Some(answer.body));
    }
    ensure!(answer.status == 503 && answer.json()["retryable"] == Value::Bool(true), "{answer:?}");
    Ok(None)
}

/// A disk of a few megabytes.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn mounted(at: &'a Path) -> Result<Self> {
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(at).status()?;
        ensure!(mounted.success(), "mounting a tmpfs takes root: {mounted}");
        Ok(Self(at))
    }

    /// Leaves next to nothing.
    fn fill(&self) -> Result<()> {
        let zeros = vec![0; 64 * 1024];
        let mut file = std::fs::File::create(self.0.join("ballast"))?;
        while std::io::Write::write_all(&mut file, &zeros).is_ok() {}
        Ok(())
    }

    fn free(&self) -> Result<()> {
        Ok(std::fs::remove_file(self.0.join("ballast"))?)
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status(); // Gone with the server.
    }
}
