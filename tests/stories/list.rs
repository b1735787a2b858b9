//! # The list of stories: each is a test on every store, told in the ways of its group

macro_rules! stories {
    ($($group:ident: $tellings:tt { $($name:ident)* })*) => {
        /// Every story that is told.
        pub(crate) const LISTED: &[&str] = &[$($(stringify!($name),)*)*];
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
                #[test]
                #[ignore = "needs PostgreSQL; run by ./check full"]
                fn on_postgres() {
                    crate::tell(stringify!($name), stringify!($telling), crate::On::Postgres);
                }
                #[test]
                #[ignore = "needs PostgreSQL; run by ./check full"]
                fn on_three_nodes() {
                    crate::tell(stringify!($name), stringify!($telling), crate::On::ThreeNodes);
                }
            })*
        }
    };
}

stories! {
    every_way: [plain echoed broken] {
        a_branch_is_run_again
        a_branch_that_fails_ends_the_others
        a_branch_without_a_name_is_called_by_its_type
        a_cancelled_child_comes_back_with_its_sibling
        a_cancelled_worker_does_not_start_a_child_over
        a_child_beside_a_worker_in_a_loop_is_resumed
        a_child_beside_a_worker_that_came_with_data_is_resumed
        a_child_beyond_the_limit_waits_or_fails_its_step
        a_child_ends_when_its_parent_is_removed
        a_child_ends_when_its_parent_takes_too_long
        a_child_ends_with_its_parent
        a_child_inherits_the_domain_of_its_parent
        a_child_inherits_the_key_of_its_parent
        a_child_inside_a_loop_is_resumed
        a_child_is_retried_while_its_parent_is_paused
        a_child_is_run_again_from_its_parent
        a_child_is_tried_again_as_a_new_run
        a_child_needs_a_definition
        a_child_of_a_dynamic_fork_revives_its_parent
        a_child_of_an_earlier_life_disturbs_nobody
        a_child_returns_the_signal_it_did_not_need
        a_child_runs_inside_its_parent
        a_child_shares_the_place_of_its_ancestor
        a_child_that_ends_itself_ends_only_itself
        a_child_that_fails_fails_its_step
        a_child_that_is_terminated_terminates_its_parent
        a_child_that_takes_too_long_times_its_step_out
        a_child_that_would_not_take_its_input_fails_its_step
        a_child_under_way_keeps_a_signal
        a_child_whose_key_is_taken_fails_its_step
        a_child_whose_step_is_answered_by_hand_ends
        a_child_with_a_key_is_started_once
        a_definition_can_insist_on_fences
        a_definition_inside_a_step_may_name_a_schema
        a_domain_keeps_tasks_for_its_workers
        a_dynamic_fork_without_a_list_fails_the_run
        a_failed_attempt_is_replaced_and_a_terminal_error_is_final
        a_failed_child_is_made_up_for_before_its_parent
        a_failed_step_is_retried_by_hand
        a_failed_turn_is_tried_again_where_it_was
        a_failure_that_is_said_twice_fails_once
        a_failure_while_paused_is_retried_after_resume
        a_failure_workflow_runs_once_per_failure
        a_failure_workflow_that_is_not_there_is_told_of
        a_fixed_retry_delay_is_kept
        a_fork_without_a_join_fails_the_run
        a_freed_place_goes_to_the_reporter
        a_full_queue_refuses
        a_held_step_is_answered_by_name_by_its_holder
        a_held_step_is_answered_by_name_only_by_force
        a_join_can_end_by_its_own_program
        a_join_may_say_not_yet
        a_join_that_waits_in_vain_fails
        a_join_waits_while_a_branch_is_tried_again
        a_jump_lets_the_child_go
        a_jump_needs_a_place
        a_key_counts_where_the_service_honours_it
        a_key_finds_the_run_that_is_live
        a_key_is_free_again_when_its_run_is_over
        a_key_is_used_again_if_its_run_has_failed
        a_key_returns_the_run_that_exists
        a_key_starts_one_run
        a_key_that_comes_with_another_amount_is_refused
        a_key_with_a_missing_part_is_no_key
        a_late_word_ends_the_doubt
        a_key_takes_the_place_of_the_run_before
        a_lease_outlives_a_server_that_is_away
        a_lease_that_is_extended_lasts
        a_limit_that_is_changed_counts_at_once
        a_linear_retry_delay_grows_by_the_same_step
        a_lock_goes_with_its_run
        a_lock_is_handed_on_in_turn
        a_lock_needs_a_name
        a_lock_whose_lease_lapses_is_taken_over
        a_loop_forgets_what_it_need_not_keep
        a_loop_goes_on_while_its_condition_holds
        a_loop_goes_over_a_list
        a_loop_inside_a_loop_starts_anew_each_time
        a_newer_run_takes_the_place_of_the_older
        a_pause_holds_the_join_back
        a_paused_run_waits_longer
        a_permissive_step_fails_the_run_at_its_end
        a_person_sets_variables
        a_probe_that_is_given_is_asked
        a_program_chooses_the_case
        a_program_that_throws_fails_its_step
        a_program_without_end_fails_its_task
        a_rate_limit_is_a_queue
        a_removed_child_cannot_be_resumed
        a_removed_child_is_missed
        a_removed_run_leaves_nothing_behind
        a_repeated_report_changes_nothing
        a_report_brings_the_next_task
        a_report_while_paused_waits_for_resume
        a_request_on_its_way_outlives_its_run
        a_request_without_a_key_is_not_sent_twice
        a_rerun_counts_time_anew
        a_rerun_mends_everything_that_failed
        a_rerun_needs_a_task_of_the_run
        a_restarted_child_revives_those_above_it
        a_restarted_run_begins_again
        a_retried_child_revives_those_above_it
        a_retried_parent_gets_a_new_child
        a_retry_by_hand_gets_the_whole_time
        a_retry_can_resume_what_failed_below
        a_retry_sends_what_was_sent
        a_retry_that_makes_no_sense_is_refused
        a_retry_tries_everything_that_failed
        a_revived_parent_tries_all_it_needs
        a_run_brings_its_own_definition
        a_run_can_ask_for_an_older_version
        a_run_does_not_come_back_while_another_has_its_key
        a_run_goes_on_by_a_newer_definition
        a_run_is_ended_and_removed
        a_run_is_restarted_with_the_latest_definition
        a_run_is_run_again_as_a_whole
        a_run_is_run_again_from_a_step
        a_run_jumps_back
        a_run_jumps_forward
        a_run_keeps_the_schema_it_began_with
        a_run_of_system_tasks_is_over_at_once
        a_run_pulls_what_is_posted_to_it
        a_run_tells_of_its_turns
        a_run_that_comes_back_needs_a_place
        a_run_that_is_over_at_once_does_not_come_back_either
        a_run_that_is_paused_keeps_its_place
        a_run_that_must_not_be_restarted_is_not
        a_run_that_takes_too_long_only_raises_an_alert
        a_run_that_takes_too_long_times_out
        a_run_that_took_too_long_is_retried
        a_run_waits_for_a_person
        a_run_waits_for_a_while
        a_run_whose_output_does_not_fit_fails_at_its_end
        a_run_yields_until_somebody_speaks
        a_running_run_can_be_removed
        a_signal_may_come_before_its_wait
        a_signal_that_nobody_needs_stays_to_be_seen
        a_silent_worker_is_not_replaced_while_nobody_knows
        a_skip_that_comes_too_late_is_refused
        a_stale_report_brings_nothing
        a_start_beyond_the_limit_is_skipped
        a_start_that_cannot_be_fails_its_step
        a_start_that_cannot_be_is_refused
        a_start_that_does_not_fit_its_schema_is_refused
        a_start_that_was_skipped_keeps_its_key
        a_start_that_was_taken_in_keeps_its_key
        a_started_run_goes_its_own_way
        a_started_run_is_started_once
        a_started_run_takes_the_place_of_another
        a_started_run_with_a_key_obeys_it
        a_step_is_answered_by_name
        a_step_is_held_to_the_definition_it_starts
        a_step_is_named_by_the_data
        a_step_is_skipped_before_it_is_reached
        a_step_knows_its_key_and_its_attempt
        a_step_starts_after_its_delay
        a_step_tells_of_its_states
        a_step_whose_child_takes_too_long_is_tried_again
        a_strategy_without_a_key_means_nothing
        a_sub_workflow_is_done_once_for_two_runs
        a_sub_workflow_that_fails_leaves_its_effect_in_doubt
        a_switch_takes_the_case_of_its_value
        a_task_inside_a_child_is_run_again
        a_task_whose_input_does_not_fit_fails_for_good
        a_task_whose_output_does_not_fit_fails_for_good
        a_terminal_error_is_not_tried_again
        a_terminate_task_ends_the_run
        a_terminate_task_in_a_branch_ends_the_run
        a_terminate_task_that_makes_no_sense_fails_once
        a_terminated_run_has_not_failed
        a_terminated_run_hears_nothing_more
        a_terminated_run_is_retried_where_it_was
        a_turn_has_branches_and_cases
        a_type_of_ones_own_is_tried_once
        a_type_that_is_not_in_this_release_fails_its_step
        a_wait_that_ends_while_paused_leads_on_after_the_resume
        a_watched_run_that_is_removed_is_missed
        a_worker_asks_to_be_called_back
        a_worker_cancels_its_task
        a_worker_dies_before_saying_so
        a_worker_that_let_go_may_still_finish
        a_worker_may_report_under_another_name
        a_worker_without_a_fence_is_known_by_its_id
        a_workflow_that_calls_itself_comes_to_an_end
        all_attempts_together_have_a_limit
        an_answer_may_come_before_its_task
        an_effect_can_be_settled_when_its_run_is_gone
        an_attempt_that_takes_too_long_ends_the_run
        an_attempt_that_takes_too_long_is_tried_again
        an_attempt_that_takes_too_long_only_raises_an_alert
        an_effect_given_up_in_doubt_can_still_be_settled
        an_effect_happens_once_for_two_runs
        an_effect_in_doubt_is_held_until_somebody_says
        an_effect_in_flight_is_waited_for
        an_effect_that_fails_goes_to_the_next_who_waits
        an_effect_that_nobody_took_is_free_again
        an_event_completes_a_task
        an_event_fails_ends_and_changes_runs
        an_event_is_published_with_its_output
        an_event_may_answer_before_its_task
        an_event_needs_a_sink_that_exists
        an_event_starts_a_run_once
        an_event_starts_what_a_key_allows
        an_event_that_starts_itself_comes_to_an_end
        an_exclusive_join_takes_the_branch_that_ran
        an_exponential_retry_delay_doubles_up_to_its_cap
        an_old_fence_is_stale
        an_optional_branch_may_fail
        an_optional_child_may_fail
        an_optional_step_may_fail
        an_optional_step_that_takes_too_long_ends_the_run
        an_upgrade_may_change_the_order
        an_upgrade_that_does_not_fit_is_refused
        an_upgrade_while_paused_needs_a_place_too
        another_body_is_not_sent_under_the_same_key
        branches_come_with_the_data
        branches_may_be_any_steps
        branches_run_side_by_side
        children_in_branches_are_resumed_where_they_failed
        commands_that_do_not_fit_are_refused
        early_answers_are_for_one_turn_each
        every_failure_has_its_failure_workflow
        every_start_knows_its_own_task
        every_turn_has_a_key_of_its_own
        expressions_carry_data_from_step_to_step
        java_is_explained
        later_starts_are_taken_in_by_the_one_that_waits
        locks_that_wait_for_each_other_are_found_out
        looking_at_a_run_changes_nothing
        no_retry_after_the_total_time_is_spent
        nobody_polls_in_time_and_it_is_tried_again
        nobody_polls_in_time_and_the_run_ends
        nothing_expires_while_paused
        only_handlers_that_listen_hear
        only_so_many_at_once
        only_so_many_per_window
        pausing_a_parent_leaves_its_child_alone
        programs_calculate_inside_a_run
        runs_begun_together_share_a_child_by_its_key
        runs_beyond_the_limit_wait_in_turn
        runs_that_start_runs_come_to_an_end
        silence_fails_the_attempt_whatever_the_policy
        silence_without_a_retry_times_the_run_out
        steps_run_in_order
        the_definition_of_a_run_stays_what_it_was
        the_far_side_does_not_know_either
        the_far_side_is_asked_whether_it_happened
        the_far_side_says_that_it_did_not_happen
        the_last_domain_of_a_list_is_the_fallback
        the_last_failure_is_held_in_doubt
        the_last_steps_can_be_skipped
        the_more_urgent_run_goes_first
        the_run_timeout_counts_while_paused
        the_shortest_effect_keeps_the_promise
        the_star_of_a_domain_is_for_workers_only
        the_version_of_a_child_is_fixed_when_its_parent_starts
        two_branches_share_a_child_by_its_key
        variables_are_seen_by_the_next_step
        waiting_is_not_counted_while_paused
        waiting_tasks_are_called_back_at_once
        what_a_jump_left_behind_is_not_retried
        what_a_person_forces_leaves_the_effect_unknown
        what_has_happened_is_replayed_unless_asked_for_again
        what_is_cached_is_not_computed_again
        what_is_given_with_a_jump_is_for_the_child
        what_the_server_does_itself_is_done_once
        whoever_waits_for_an_effect_may_leave
        whoever_ends_leaves_the_line
    }
    // Each says in its first lines why.
    seldom_broken: [plain echoed] {
        the_first_domain_with_a_worker_wins
    }
}

/// Nodes that share a database tell each other who polled, so there it is told broken too.
mod the_first_domain_with_a_worker_wins_broken {
    const NAME: &str = "the_first_domain_with_a_worker_wins";

    #[test]
    #[ignore = "needs PostgreSQL; run by ./check full"]
    fn on_postgres() {
        crate::tell(NAME, "broken", crate::On::Postgres);
    }

    #[test]
    #[ignore = "needs PostgreSQL; run by ./check full"]
    fn on_three_nodes() {
        crate::tell(NAME, "broken", crate::On::ThreeNodes);
    }
}
