//! # The browser: what a page of somebody else gets from a server on the same machine
//!
//! A real Chromium opens the attacker's page, which tries everything a page can do: reading, scripts,
//! images, frames, forms, beacons. The server has no authentication, as a developer's has none. The
//! last test lets the page in, to show that the attack is one. **May not:** send a header by itself.

mod chromium;
mod evil;

use anyhow::{Result, ensure};
use chromium::{Browser, shown};
use evil::Evil;
use semel_tests::process::{Caller, Server};
use serde_json::{Value, json};

const TREASURE: &str = "the treasure of the bank";

/// A server with something to take: a secret, a workflow and a task that waits.
struct Victim {
    server: Server,
    caller: Caller,
    run: String,
    _directory: tempfile::TempDir,
}

impl Victim {
    fn new(options: &[&str]) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let server = Server::start(directory.path(), &[&["--store", "memory"], options].concat())?;
        let caller = server.caller()?;
        caller.put_text("/api/secrets/BANK", TREASURE)?;
        let step = json!({"name": "waiting", "taskReferenceName": "only", "type": "SIMPLE"});
        let prey = json!({"name": "prey", "version": 1, "tasks": [step]});
        for (path, body) in [
            ("/api/metadata/taskdefs", json!([{"name": "waiting"}])),
            ("/api/metadata/workflow", prey),
        ] {
            ensure!(caller.post(path, &body)?.status == 200, "{path}");
        }
        let run = caller.post("/api/workflow/prey", &json!({}))?.body;
        Ok(Self { server, caller, run, _directory: directory })
    }

    /// Everything that the page tries to change.
    fn state(&self) -> Result<Value> {
        let get = |path: &str| -> Result<Value> {
            let answer = self.caller.get(path)?;
            Ok(if answer.json().is_null() { json!(answer.body) } else { answer.json() })
        };
        let task = &get(&format!("/api/workflow/{}", self.run))?["tasks"][0];
        Ok(json!({
            "definitions": get("/api/metadata/workflow")?,
            "secret": get("/api/secrets/BANK")?,
            "runs": get("/api/workflow/search?query=&size=100")?["totalHits"],
            "task": [task["status"], task["workerId"]],
        }))
    }

    fn refusals(&self, reason: &str) -> Result<u64> {
        let line = format!("semel_door_refusals_total{{reason=\"{reason}\"}} ");
        let metrics = self.caller.get("/metrics")?.body;
        let count = metrics.lines().find_map(|text| text.strip_prefix(&line)?.parse().ok());
        Ok(count.unwrap_or(0))
    }

    /// What the page got hold of when it was opened under this origin.
    fn is_attacked(&self, evil: Evil, name: &str, target: &str) -> Result<Value> {
        let page = format!("{}/page", evil.origin(name));
        let loot = evil.attack(target, self.server.address())?;
        let _browser = Browser::open(&page)?;
        loot.await_report()
    }
}

/// Fails if the page has read anything, or changed anything.
fn is_unharmed(victim: &Victim, before: &Value, loot: &Value) -> Result<()> {
    for (what, got) in loot.as_object().into_iter().flatten() {
        let got = got.to_string();
        let is_nothing = ["(failed", "(nothing)", "(loaded)", "(error)", "(closed)", "(sent)"]
            .iter()
            .any(|nothing| got.starts_with(&format!("\"{nothing}")));
        let is_refusal = got.contains("HOST_UNKNOWN");
        ensure!(is_nothing || is_refusal || got == "\"\"" || got == "true", "{what}: {got}");
    }
    ensure!(!loot.to_string().contains(TREASURE), "{loot:#}");
    let after = victim.state()?;
    ensure!(after == *before, "before {before:#}\nafter {after:#}\nloot {loot:#}");
    Ok(())
}

#[test]
#[ignore = "needs Chromium; ./check full"]
fn a_page_of_another_site_gets_nothing() -> Result<()> {
    let victim = Victim::new(&[])?;
    let before = victim.state()?;
    let target = format!("http://{}", victim.server.address());
    let loot = victim.is_attacked(Evil::new()?, "evil.example", &target)?;
    is_unharmed(&victim, &before, &loot)?;
    let refused = victim.refusals("origin")?;
    ensure!(refused >= 8, "it was the server that refused: {refused}\n{loot:#}");
    Ok(())
}

#[test]
#[ignore = "needs Chromium; ./check full"]
fn a_page_of_another_port_gets_nothing() -> Result<()> {
    let victim = Victim::new(&[])?;
    let before = victim.state()?;
    let target = format!("http://localhost:{}", victim.server.address().port());
    let loot = victim.is_attacked(Evil::new()?, "localhost", &target)?;
    is_unharmed(&victim, &before, &loot)?;
    ensure!(victim.refusals("origin")? >= 8, "{loot:#}");
    Ok(())
}

/// Of requests to such a name in plain HTTP, browsers do not say from which site they come.
#[test]
#[ignore = "needs Chromium; ./check full"]
fn a_server_that_is_told_no_site_gives_nothing_away() -> Result<()> {
    let victim = Victim::new(&["--hosts", "semel.test"])?;
    let before = victim.state()?;
    let target = format!("http://semel.test:{}", victim.server.address().port());
    let loot = victim.is_attacked(Evil::new()?, "evil.example", &target)?;
    is_unharmed(&victim, &before, &loot)?;
    ensure!(victim.refusals("origin")? >= 8, "{loot:#}");
    Ok(())
}

#[test]
#[ignore = "needs Chromium; ./check full"]
fn a_name_that_is_pointed_at_the_server_gets_nothing() -> Result<()> {
    let victim = Victim::new(&[])?;
    let before = victim.state()?;
    let evil = Evil::new()?;
    let own_origin = evil.origin("rebound.example");
    let loot = victim.is_attacked(evil, "rebound.example", &own_origin)?;
    is_unharmed(&victim, &before, &loot)?;
    let read = loot["read /api/secrets/BANK"].to_string();
    ensure!(read.contains("HOST_UNKNOWN"), "the page is of the same origin and reads why: {read}");
    ensure!(victim.refusals("host")? >= 20, "{loot:#}");
    Ok(())
}

#[test]
#[ignore = "needs Chromium; ./check full"]
fn a_page_is_shown_in_no_frame() -> Result<()> {
    let victim = Victim::new(&[])?;
    let target = format!("http://{}", victim.server.address());
    victim.is_attacked(Evil::new()?, "evil.example", &target)?;
    let asked = |path: &str| -> Result<u64> {
        let metrics = victim.caller.get("/metrics")?.body;
        let lines = metrics.lines().filter(|line| {
            line.starts_with("http_server_requests_seconds_count") && line.contains(path)
        });
        Ok(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
    };
    ensure!(asked("uri=\"/swagger-ui/index.html\"")? == 1, "the frame has asked for the page");
    // Four attempts of the attacker; the page in the frame would have been the fifth to ask.
    ensure!(asked("uri=\"/api-docs\"")? == 4, "the page in the frame has run");
    Ok(())
}

#[test]
#[ignore = "needs Chromium; ./check full"]
fn the_pages_of_the_server_work_under_their_policy() -> Result<()> {
    let victim = Victim::new(&[])?;
    let address = victim.server.address();
    let page = shown(&format!("http://{address}/swagger-ui/index.html"))?;
    ensure!(page.contains("/api/workflow/{id}/upgrade"), "its script has run: {page}");
    ensure!(shown(&format!("http://{address}/"))?.contains("Semel"));
    Ok(())
}

#[test]
#[ignore = "needs Chromium; ./check full"]
fn a_page_that_is_let_in_reads_and_changes() -> Result<()> {
    let evil = Evil::new()?;
    let origin = evil.origin("evil.example");
    let victim = Victim::new(&["--cors-origins", &origin])?;
    let before = victim.state()?;
    let target = format!("http://{}", victim.server.address());
    let loot = victim.is_attacked(evil, "evil.example", &target)?;
    ensure!(loot["read /api/secrets/BANK"] == TREASURE, "{loot:#}");
    ensure!(victim.state()? != before, "{loot:#}");
    Ok(())
}
