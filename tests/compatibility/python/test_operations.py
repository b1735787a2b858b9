"""Scenario 7: what an operator does to a run."""

import pytest
from conductor.client.http.models.rerun_workflow_request import RerunWorkflowRequest
from conductor.client.http.models.skip_task_request import SkipTaskRequest
from conductor.client.http.models.workflow_test_request import WorkflowTestRequest
from conductor.client.http.rest import ApiException

from house import fresh, step, task_def


@pytest.fixture
def two_steps(clients):
    """A workflow of the steps `first` and `second`, and a run of it."""
    task = fresh("task")
    clients.metadata.register_task_def(task_def(task))
    name = clients.define([step(task, "first"), step(task, "second")])
    return name, clients.start(name)


def answer(clients, run, reference, status="COMPLETED"):
    clients.reached(run, reference)
    clients.tasks.update_task_by_ref_name(run, reference, status, f"{reference} {status}")


def test_07_pause_and_resume(clients, two_steps):
    _, run = two_steps
    clients.workflows.pause_workflow(run)
    clients.workflows.pause_workflow(run)
    assert clients.workflows.get_workflow(run).status == "PAUSED"
    clients.workflows.resume_workflow(run)
    assert clients.workflows.get_workflow(run).status == "RUNNING"
    with pytest.raises(ApiException) as refused:
        clients.workflows.resume_workflow(run)
    assert refused.value.status == 409


def test_07_terminate(clients, two_steps):
    _, run = two_steps
    clients.workflows.terminate_workflow(run, reason="not needed", trigger_failure_workflow=True)
    seen = clients.workflows.get_workflow(run)
    assert (seen.status, seen.reason_for_incompletion) == ("TERMINATED", "not needed")
    assert seen.tasks[0].status == "CANCELED"


def test_07_a_terminated_run_may_start_its_failure_workflow(clients):
    cure = clients.define([step(fresh("nobody"), "only")])
    run = clients.start(clients.define([step(fresh("nobody"), "only")], failure_workflow=cure))
    clients.workflows.terminate_workflow(run, reason="broken", trigger_failure_workflow=True)
    started = clients.workflows.get_workflow(run).output["conductor.failure_workflow"]
    assert clients.workflows.get_workflow(started).workflow_name == cure


def test_07_retry(clients, two_steps):
    _, run = two_steps
    answer(clients, run, "first", "FAILED")
    assert clients.ended(run).status == "FAILED"
    clients.workflows.retry_workflow(run)
    answer(clients, run, "first")
    answer(clients, run, "second")
    end = clients.ended(run)
    assert end.status == "COMPLETED"
    assert [task.status for task in end.tasks] == ["FAILED", "COMPLETED", "COMPLETED"]
    for call in (clients.workflows.retry_workflow, clients.workflows.terminate_workflow):
        with pytest.raises(ApiException) as refused:
            call(run)
        assert refused.value.status == 409


def test_07_restart(clients, two_steps):
    name, run = two_steps
    clients.workflows.terminate_workflow(run)
    clients.define([step("other")], name=name)
    clients.workflows.restart_workflow(run, use_latest_def=True)
    seen = clients.workflows.get_workflow(run)
    assert (seen.status, seen.tasks[0].reference_task_name) == ("RUNNING", "other")


def test_07_rerun(clients, two_steps):
    _, run = two_steps
    answer(clients, run, "first")
    answer(clients, run, "second")
    end = clients.ended(run)
    request = RerunWorkflowRequest(re_run_from_task_id=end.tasks[1].task_id, task_input={"n": 5})
    assert clients.workflows.rerun_workflow(run, request) == run
    assert clients.reached(run, "second").input_data["n"] == 5


def test_07_skip(clients, two_steps):
    _, run = two_steps
    clients.workflows.skip_task_from_workflow(run, "second", SkipTaskRequest(task_output={"skipped": True}))
    answer(clients, run, "first")
    end = clients.ended(run)
    assert end.status == "COMPLETED"
    assert {task.reference_task_name: task.status for task in end.tasks} == {"first": "COMPLETED", "second": "SKIPPED"}


def test_07_jump(clients, two_steps):
    _, run = two_steps
    # The SDK leaves `{taskReferenceName}` in the path and names the step in the query.
    clients.workflow_api.jump_to_task({"n": 6}, run, task_reference_name="second")
    assert clients.reached(run, "second").input_data["n"] == 6


def test_07_variables_and_removal(clients, two_steps):
    _, run = two_steps
    clients.workflows.update_variables(run, {"colour": "red"})
    assert clients.workflows.get_workflow(run).variables["colour"] == "red"
    # It goes on: it ends first, and is gone.
    clients.workflows.delete_workflow(run)
    with pytest.raises(ApiException) as gone:
        clients.workflows.get_workflow(run)
    assert gone.value.status == 404


def test_07_many_at_once(clients, two_steps):
    name, run = two_steps
    other, missing = clients.start(name), "00000000-0000-4000-8000-000000000000"
    answered = clients.bulk_api.pause_workflow([run, other, missing])
    assert sorted(answered.bulk_successful_results) == sorted([run, other])
    assert list(answered.bulk_error_results) == [missing]
    clients.bulk_api.resume_workflow([run, other])
    clients.bulk_api.terminate([run, other], reason="all done")
    assert {clients.workflows.get_workflow(one).status for one in (run, other)} == {"TERMINATED"}
    clients.bulk_api.retry([run])
    clients.bulk_api.restart([other], use_latest_definitions=True)
    assert {clients.workflows.get_workflow(one).status for one in (run, other)} == {"RUNNING"}


def test_07_a_definition_is_tried_with_made_up_answers(clients, two_steps):
    name, _ = two_steps
    mocks = {"first": [{"status": "COMPLETED", "output": {"a": 1}}], "second": [{"status": "COMPLETED", "output": {}}]}
    request = WorkflowTestRequest(name=name, version=1, input={"n": 1}, task_ref_to_mock_output=mocks)
    tried = clients.workflows.test_workflow(request)
    assert tried.status == "COMPLETED"
    assert tried.tasks[0].output_data["a"] == 1
