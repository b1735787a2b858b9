//! # Stories: text a stranger can read, told three ways on every store
//!
//! To add one, write `NAME.story` here and list it in `list.rs`. Each is told plain, echoed and broken, on
//! memory, on SQLite and, where it is asked for, on PostgreSQL; every telling must end as the plain
//! one on memory does.

mod answers;
mod definition;
mod house;
mod language;
mod list;
mod listeners;
mod operators;
mod runs;
mod showing;
mod teller;
mod telling;
mod workers;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use house::{House, On};
use semel_runtime::Sabotage;
use semel_store::Plant;
use teller::Teller;
use telling::Telling;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("stories")
}

fn tell(name: &str, telling: &str, on: On) {
    let told = match telling {
        "plain" => Telling::Plain,
        "echoed" => Telling::Echoed,
        "broken" => Telling::Broken,
        other => panic!("nobody knows how to tell a story {other}"),
    };
    let ending = hear_anew(name, told, on).and_then(|ending| {
        if (told, on) == (Telling::Plain, On::Memory) {
            return Ok(());
        }
        let plain = hear_anew(name, Telling::Plain, On::Memory)?;
        teller::same(&plain, &ending).context("it does not end as when told plain on memory")
    });
    if let Err(error) = ending {
        panic!("\n{name}.story, told {telling} on {on:?}: {error:#}\n");
    }
}

fn hear_anew(name: &str, telling: Telling, on: On) -> Result<BTreeMap<String, String>> {
    hear(name, telling, House::build(on, telling.sabotage())?)
}

fn hear(name: &str, telling: Telling, house: House) -> Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(directory().join(format!("{name}.story")))?;
    let lines = language::read(&text)?;
    let mut teller = Teller::new(telling, house);
    for line in &lines {
        let words = text.lines().nth(line.number - 1).unwrap_or_default();
        teller.tell(line).with_context(|| format!("line {}: {words}", line.number))?;
    }
    teller.end().context("at the end")
}

#[test]
fn every_story_on_disk_is_told() {
    let entries = std::fs::read_dir(directory()).expect("the stories lie beside this file");
    let files = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut stories: Vec<_> =
        files.filter_map(|file| file.strip_suffix(".story").map(str::to_owned)).collect();
    let mut listed: Vec<String> = list::LISTED.iter().map(|name| (*name).to_owned()).collect();
    stories.sort();
    listed.sort();
    assert_eq!(stories, listed, "list every story in tests/stories/list.rs");
}

/// Every sixth story, one after the other in a few threads.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn sampled_stories_stand_deaths_on_three_nodes() {
    const EVERY: usize = 6;
    const THREADS: usize = 6;
    let sample: Vec<&str> = list::LISTED.iter().copied().step_by(EVERY).collect();
    std::thread::scope(|scope| {
        for share in sample.chunks(sample.len().div_ceil(THREADS)) {
            scope.spawn(move || share.iter().for_each(|name| tell(name, "broken", On::ThreeNodes)));
        }
    });
}

#[test]
fn a_house_that_ignores_fences_is_found_out() {
    let house = House::build(On::Memory, Sabotage::FenceNotChecked).unwrap();
    let error = hear("an_old_fence_is_stale", Telling::Plain, house).unwrap_err();
    assert!(format!("{error:#}").starts_with("line 7: report   render by ann"), "{error:#}");
}

#[test]
fn a_house_that_answers_before_the_fsync_is_found_out() {
    let house = House::build(On::Memory, Sabotage::None).unwrap();
    house.plant(Plant::FsyncSkipped);
    let error = hear("steps_run_in_order", Telling::Plain, house).unwrap_err();
    assert!(format!("{error:#}").contains("at the end"), "{error:#}");
}
