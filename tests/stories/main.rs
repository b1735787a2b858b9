//! # Stories: text a stranger can read, told three ways on every store
//!
//! To add one, write `NAME.story` here and list it below. Each is told plain, echoed and broken, on
//! memory and on SQLite; every telling must end as the plain one on memory does.

mod answers;
mod definition;
mod house;
mod language;
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

macro_rules! stories {
    ($($group:ident: $tellings:tt { $($name:ident)* })*) => {
        /// Every story that is told.
        const LISTED: &[&str] = &[$($(stringify!($name),)*)*];
        $($(stories!(@story $name $tellings);)*)*
    };
    (@story $name:ident [$($telling:ident)*]) => {
        mod $name {
            $(mod $telling {
                #[test]
                fn on_memory() {
                    crate::tell(stringify!($name), stringify!($telling), crate::On::Memory);
                }
                #[test]
                fn on_sqlite() {
                    crate::tell(stringify!($name), stringify!($telling), crate::On::Sqlite);
                }
            })*
        }
    };
}

stories! {
    every_way: [plain echoed broken] {
        a_definition_can_insist_on_fences
        a_domain_keeps_tasks_for_its_workers
        a_failure_while_paused_is_retried_after_resume
        a_fixed_retry_delay_is_kept
        a_freed_place_goes_to_the_reporter
        a_held_step_is_answered_by_name_only_by_force
        a_key_is_free_again_when_its_run_is_over
        a_key_returns_the_run_that_exists
        a_key_starts_one_run
        a_lease_outlives_a_server_that_is_away
        a_lease_that_is_extended_lasts
        a_linear_retry_delay_grows_by_the_same_step
        a_paused_run_waits_longer
        a_permissive_step_fails_the_run_at_its_end
        a_repeated_report_changes_nothing
        a_report_brings_the_next_task
        a_report_while_paused_waits_for_resume
        a_run_can_ask_for_an_older_version
        a_run_of_system_tasks_is_over_at_once
        a_run_that_takes_too_long_only_raises_an_alert
        a_run_that_takes_too_long_times_out
        a_run_waits_for_a_person
        a_run_waits_for_a_while
        a_stale_report_brings_nothing
        a_start_that_cannot_be_is_refused
        a_step_is_answered_by_name
        a_step_starts_after_its_delay
        a_strategy_without_a_key_means_nothing
        a_terminal_error_is_not_tried_again
        a_terminate_task_ends_the_run
        a_terminate_task_that_makes_no_sense_fails_once
        a_terminated_run_hears_nothing_more
        a_worker_asks_to_be_called_back
        a_worker_cancels_its_task
        a_worker_dies_before_saying_so
        a_worker_that_let_go_may_still_finish
        a_worker_without_a_fence_is_known_by_its_id
        all_attempts_together_have_a_limit
        an_attempt_that_takes_too_long_ends_the_run
        an_attempt_that_takes_too_long_is_tried_again
        an_attempt_that_takes_too_long_only_raises_an_alert
        an_exponential_retry_delay_doubles_up_to_its_cap
        an_old_fence_is_stale
        an_optional_step_may_fail
        commands_that_do_not_fit_are_refused
        expressions_carry_data_from_step_to_step
        no_retry_after_the_total_time_is_spent
        nobody_polls_in_time_and_it_is_tried_again
        nobody_polls_in_time_and_the_run_ends
        nothing_expires_while_paused
        only_so_many_at_once
        only_so_many_per_window
        silence_fails_the_attempt_whatever_the_policy
        steps_run_in_order
        the_definition_of_a_run_stays_what_it_was
        the_last_domain_of_a_list_is_the_fallback
        the_more_urgent_run_goes_first
        the_run_timeout_counts_while_paused
        variables_are_seen_by_the_next_step
        waiting_is_not_counted_while_paused
    }
    // Each says in its first lines why.
    never_broken: [plain echoed] {
        the_first_domain_with_a_worker_wins
    }
}

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
    let mut listed: Vec<String> = LISTED.iter().map(|name| (*name).to_owned()).collect();
    stories.sort();
    listed.sort();
    assert_eq!(stories, listed, "list every story in tests/stories/main.rs");
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
