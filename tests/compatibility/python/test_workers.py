"""Scenarios 3 to 6 and 13: the SDK's own runner does the work."""

from conductor.client.http.models.sub_workflow_params import SubWorkflowParams
from conductor.client.worker.worker import Worker

import workers
from house import eventually, fresh, step, task_def

RUNS = 50


def three_steps(clients):
    """A task type and a workflow that adds one three times."""
    task = fresh("add")
    clients.metadata.register_task_def(task_def(task))
    steps = [
        step(task, "first"),
        step(task, "second", input_parameters={"n": "${first.output.n}"}),
        step(task, "third", input_parameters={"n": "${second.output.n}"}),
    ]
    return task, clients.define(steps, output_parameters={"n": "${third.output.n}"})


def all_add_up(clients, name):
    runs = [clients.start(name, n) for n in range(RUNS)]
    ends = [clients.ended(run) for run in runs]
    assert [end.status for end in ends] == ["COMPLETED"] * RUNS
    assert [end.output["n"] for end in ends] == [n + 3 for n in range(RUNS)]
    assert all(len(end.tasks) == 3 for end in ends)
    return ends


def test_03_threads_complete_fifty_runs(clients, run_workers):
    task, name = three_steps(clients)
    with run_workers(clients.configuration, Worker(task, workers.add, poll_interval=20, thread_count=4)):
        ends = all_add_up(clients, name)
    logs = clients.tasks.get_task_logs(ends[0].tasks[0].task_id)
    assert [line.log for line in logs] == ["adding to 0"]


def test_04_async_workers_complete_fifty_runs(clients, run_workers):
    task, name = three_steps(clients)
    with run_workers(clients.configuration, Worker(task, workers.add_later, poll_interval=20, thread_count=10)):
        all_add_up(clients, name)


def test_05_a_failing_worker_is_retried_until_it_succeeds(clients, run_workers):
    task = fresh("flaky")
    clients.metadata.register_task_def(task_def(task, retry_count=3, retry_delay_seconds=0, retry_logic="FIXED"))
    name = clients.define([step(task, "only")])
    with run_workers(clients.configuration, Worker(task, workers.fail_twice, poll_interval=20)):
        end = clients.ended(clients.start(name, 9))
    assert end.status == "COMPLETED"
    assert [attempt.status for attempt in end.tasks] == ["FAILED", "FAILED", "COMPLETED"]
    assert [attempt.retry_count for attempt in end.tasks] == [0, 1, 2]
    assert end.tasks[0].reason_for_incompletion == "attempt 0 of 9 failed"
    assert end.tasks[2].output_data == {"attempt": 2}
    # The runner's log of a failure carries seconds where milliseconds are meant; both are kept.
    assert "RuntimeError" in clients.tasks.get_task_logs(end.tasks[0].task_id)[0].log


def test_05_a_terminal_error_ends_the_run(clients, run_workers):
    task = fresh("hopeless")
    clients.metadata.register_task_def(task_def(task, retry_count=3, retry_delay_seconds=0))
    name = clients.define([step(task, "only")])
    with run_workers(clients.configuration, Worker(task, workers.give_up, poll_interval=20)):
        end = clients.ended(clients.start(name, 4))
    assert end.status == "FAILED"
    assert [attempt.status for attempt in end.tasks] == ["FAILED_WITH_TERMINAL_ERROR"]
    assert "4 can never work" in end.reason_for_incompletion


def test_06_a_long_task_keeps_its_lease(clients, run_workers):
    task = fresh("long")
    clients.metadata.register_task_def(task_def(task, response_timeout_seconds=12, retry_count=3, retry_delay_seconds=0))
    name = clients.define([step(task, "only", input_parameters={"seconds": 15})])
    worker = Worker(task, workers.take_long, poll_interval=20, lease_extend_enabled=True)
    with run_workers(clients.configuration, worker):
        end = clients.ended(clients.start(name))
    assert end.status == "COMPLETED"
    assert [(attempt.status, attempt.poll_count) for attempt in end.tasks] == [("COMPLETED", 1)]


def test_06_a_silent_task_loses_its_lease(clients):
    task = fresh("silent")
    clients.metadata.register_task_def(task_def(task, response_timeout_seconds=1, retry_count=1, retry_delay_seconds=0))
    run = clients.start(clients.define([step(task, "only")]))
    first = clients.poll(task)
    second = clients.poll(task)
    assert first.task_id != second.task_id and second.retry_count == 1
    assert [attempt.status for attempt in clients.workflows.get_workflow(run).tasks] == ["TIMED_OUT", "IN_PROGRESS"]


def test_06_a_worker_asks_to_be_called_back(clients, run_workers):
    task = fresh("patient")
    clients.metadata.register_task_def(task_def(task))
    name = clients.define([step(task, "only")])
    with run_workers(clients.configuration, Worker(task, workers.come_back, poll_interval=20)):
        end = clients.ended(clients.start(name))
    assert end.status == "COMPLETED"
    assert end.tasks[0].output_data == {"polls": 3}


def test_13_a_child_runs_inside_its_parent(clients, run_workers):
    task, child = three_steps(clients)
    inside = step(child, "child", "SUB_WORKFLOW", sub_workflow_param=SubWorkflowParams(name=child, version=1))
    parent = clients.define([inside], output_parameters={"n": "${child.output.n}"})
    with run_workers(clients.configuration, Worker(task, workers.add, poll_interval=20, thread_count=2)):
        end = clients.ended(clients.start(parent, 10))
    assert (end.status, end.output["n"]) == ("COMPLETED", 13)
    below = clients.workflows.get_workflow(end.tasks[0].sub_workflow_id)
    assert (below.status, below.parent_workflow_id) == ("COMPLETED", end.workflow_id)


def test_13_a_failed_child_is_retried_from_its_parent(clients):
    task = fresh("below")
    clients.metadata.register_task_def(task_def(task))
    child = clients.define([step(task, "work")])
    inside = step(child, "child", "SUB_WORKFLOW", sub_workflow_param=SubWorkflowParams(name=child, version=1))
    run = clients.start(clients.define([inside]))
    below = eventually(lambda: clients.workflows.get_workflow(run).tasks[0].sub_workflow_id, "the child")
    clients.tasks.update_task_by_ref_name(below, "work", "FAILED", "no")
    assert clients.ended(run).status == "FAILED"
    clients.workflows.retry_workflow(run, resume_subworkflow_tasks=True)
    clients.reached(below, "work")
    clients.tasks.update_task_by_ref_name(below, "work", "COMPLETED", "yes")
    assert clients.ended(run).status == "COMPLETED"
