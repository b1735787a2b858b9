//! # Conformance: what every store must do
//!
//! One rule per function, each a sentence. A store passes by giving a [`Fixture`] to the
//! [`conformance!`](macro@crate::conformance) macro, which makes one test of every rule:
//!
//! ```ignore
//! semel_store::conformance!(MyFixture::new());
//! semel_store::conformance!(ignored: "needs a server", MyFixture::new());
//! ```

pub mod census;
mod desk;
pub mod differential;
pub mod documents;
pub mod due;
pub mod durable;
pub mod finding;
pub mod indexed;
pub mod load;
pub mod logs;
pub mod messages;
pub mod queues;
pub mod removal;
pub mod rows;
pub mod samples;
pub mod search;
pub mod search_criteria;
pub mod shelves;
pub mod snapshots;
pub mod sweep;
mod traffic;
pub mod waits;

use std::sync::Arc;

pub use desk::{Desk, Fixture};

use crate::{Clock, MemoryStore, Store};

/// The memory store with a disk, which is the store itself; opening it is coming back from the crash.
#[derive(Default)]
pub struct Memory(Option<MemoryStore>);

impl Fixture for Memory {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        let store = self.0.get_or_insert_with(|| MemoryStore::with_disk(clock));
        store.crash();
        Arc::new(store.clone())
    }
}

/// One `#[test]` per rule, each on a fixture of its own.
#[macro_export]
macro_rules! conformance {
    (@all $attributes:tt $fixture:expr) => {
        $crate::conformance! { @rules $attributes $fixture;
            rows: a_head_is_read_as_it_was_written,
                a_head_is_read_as_it_was_written_in_every_status,
                a_change_of_any_one_field_of_a_head_is_written,
                a_delivery_is_read_as_it_was_written,
                a_change_of_any_one_field_of_a_delivery_is_written,
                a_record_is_read_as_it_was_written,
                records_are_listed_by_scope_and_key,
                record_keys_are_compared_byte_for_byte,
                a_limit_is_read_as_it_was_written,
                a_deleted_row_is_gone,
                a_large_payload_is_read_as_it_was_written,
                every_row_asked_for_is_held_present_or_absent;
            load: loading_gives_the_head_the_entries_after_a_seq_and_the_deliveries,
                loading_an_unknown_execution_gives_nothing,
                entries_of_any_size_keep_their_order,
                executions_do_not_see_each_other,
                a_pinned_definition_is_found_by_its_digest;
            documents: documents_are_listed_by_name_and_version,
                a_document_is_replaced_and_deleted,
                the_generation_grows_with_every_commit_that_writes_a_document,
                empty_and_unicode_documents_are_kept;
            queues: the_best_task_comes_first,
                a_task_is_not_ready_before_its_time,
                no_more_tasks_are_ready_than_were_wanted,
                ready_tasks_are_held_until_their_payloads_are_large_together,
                a_leased_task_is_not_ready,
                a_task_of_an_execution_that_is_over_is_not_ready,
                tasks_of_a_definition_that_is_passed_over_stay_for_others,
                queues_differ_by_type_and_domain,
                a_token_finds_what_was_handed_out_under_it,
                tasks_in_flight_are_counted_over_all_domains,
                a_deleted_task_is_in_no_queue,
                what_waits_is_counted_by_queue_and_what_is_held_is_not,
                queues_survive_a_crash;
            due: what_is_due_comes_once_and_in_order,
                what_is_due_at_the_same_time_comes_in_the_order_of_ids,
                what_fired_and_was_not_committed_fires_again,
                a_commit_moves_the_deadline,
                what_is_disarmed_is_never_due,
                no_more_is_due_than_was_asked_for,
                a_leased_task_is_due_when_its_lease_ends,
                the_next_due_time_is_known,
                due_times_survive_a_crash,
                a_delay_that_is_over_is_told_once;
            messages: a_message_is_read_as_it_was_written,
                messages_differ_by_sender_entry_and_place,
                a_message_that_was_heard_is_gone,
                messages_that_wait_on_a_record_are_found_oldest_first,
                a_message_that_waits_is_offered_when_it_is_let_go,
                a_new_message_is_left_to_its_writer_for_a_while,
                a_message_that_nobody_heard_is_offered_again,
                a_message_that_was_heard_is_never_due,
                after_a_crash_every_message_is_due_at_once,
                messages_count_among_what_is_due;
            logs: the_last_lines_of_a_task_are_read_oldest_first,
                the_lines_of_a_removed_execution_are_gone;
            removal: nothing_is_left_of_a_removed_execution,
                a_removed_execution_waits_nowhere_and_is_never_due,
                what_the_same_round_writes_of_a_removed_execution_is_gone_too,
                messages_records_and_pinned_definitions_outlive_their_execution,
                what_was_given_to_an_execution_goes_with_the_last_that_has_it,
                a_removed_execution_can_begin_again;
            sweep: what_ended_before_is_found_earliest_first,
                what_has_not_ended_is_not_found,
                expired_records_are_found_earliest_first,
                a_record_that_no_longer_expires_is_not_found,
                claims_that_lapse_are_found_earliest_first;
            snapshots: a_snapshot_is_kept_until_its_run_is_removed;
            search: a_run_is_found_by_each_of_its_fields,
                a_task_is_found_by_each_of_its_fields,
                clauses_hold_together,
                times_are_found_between_bounds,
                results_come_in_order_page_by_page,
                several_values_give_one_order,
                a_row_is_replaced_by_its_next,
                nothing_of_a_removed_run_is_found,
                an_emptied_run_keeps_what_its_batch_brings,
                a_hand_over_changes_only_tasks_that_are_there,
                free_text_is_found_whatever_its_case,
                an_index_that_was_reset_is_empty_and_usable;
            search_criteria: runs_are_found_by_either_clause,
                what_must_not_hold_is_left_out,
                bounds_may_be_included,
                tasks_are_found_by_criteria_too,
                criteria_and_words_hold_together;
            indexed: a_run_of_which_entries_were_lost_is_not_whole,
                entries_that_are_brought_together_count_each,
                runs_without_words_are_known,
                words_of_an_earlier_moment_than_the_row_are_not_taken,
                what_is_indexed_is_walked_by_id,
                ends_of_journals_are_walked_by_id;
            shelves: a_shelf_is_walked_in_the_order_of_its_keys,
                a_page_ends_where_it_is_full,
                everything_is_copied_from_a_store_and_into_it,
                a_copy_leaves_what_is_due_and_who_may_report_as_it_was,
                the_last_time_a_store_was_alive_is_known;
            census: runs_are_counted_until_they_end,
                open_descendants_are_counted_by_their_root,
                parked_executions_and_held_tasks_are_counted;
            waits: what_waits_is_counted_by_kind_with_its_oldest,
                a_limit_can_be_read_without_holding_it;
            durable: what_is_committed_is_there_after_a_crash,
                what_is_only_held_is_not_there,
                what_is_not_committed_is_not_read,
                the_last_round_is_known_to_have_happened,
                the_fence_floor_never_falls,
                downtime_is_added_to_open_leases_once,
                time_never_goes_back;
        }
    };
    (@rules $attributes:tt $fixture:expr; $($room:ident: $($rule:ident),+;)+) => {
        $($($crate::conformance! { @rule $attributes $fixture; $room $rule })+)+
    };
    (@rule [$($attribute:tt)*] $fixture:expr; $room:ident $rule:ident) => {
        #[test]
        $($attribute)*
        fn $rule() {
            $crate::conformance::$room::$rule(&mut $fixture);
        }
    };
    (ignored: $why:literal, $fixture:expr) => {
        $crate::conformance! { @all [#[ignore = $why]] $fixture }
    };
    ($fixture:expr) => {
        $crate::conformance! { @all [] $fixture }
    };
}

#[cfg(test)]
mod tests {
    use super::Memory;

    crate::conformance!(Memory::default());
}
