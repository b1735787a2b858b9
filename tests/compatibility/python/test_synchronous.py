"""Scenarios 8 and 9: a caller waits for a run, or wakes it."""

import pytest
from conductor.client.http.models.start_workflow_request import StartWorkflowRequest
from conductor.client.http.models.task_result import TaskResult
from conductor.client.http.models.task_result_status import TaskResultStatus
from conductor.client.http.models.workflow_state_update import WorkflowStateUpdate
from conductor.client.http.rest import ApiException
from conductor.client.worker.worker import Worker

import workers
from house import fresh, step, task_def


def request(name, n=1):
    return StartWorkflowRequest(name=name, version=1, input={"n": n}, correlation_id="sync")


@pytest.fixture
def waiting(clients):
    """A workflow that waits twice."""
    waits = [step("wait", f"wait_{n}", "WAIT", input_parameters={}) for n in (1, 2)]
    return clients.define(waits, output_parameters={"said": "${wait_1.output.said}"})


def test_08_execute_gives_the_output(clients, run_workers):
    task = fresh("add")
    clients.metadata.register_task_def(task_def(task))
    name = clients.define([step(task, "only")], output_parameters={"n": "${only.output.n}"})
    with run_workers(clients.configuration, Worker(task, workers.add, poll_interval=20)):
        # The SDK sends `requestId=None&waitUntilTaskRef=None`.
        run = clients.workflows.execute_workflow(request(name, 4), wait_for_seconds=20)
    assert (run.status, run.output, run.correlation_id) == ("COMPLETED", {"n": 5}, "sync")
    assert clients.workflows.get_workflow(run.workflow_id).status == "COMPLETED"


def test_08_execute_answers_when_the_time_is_over(clients):
    task = fresh("nobody")
    run = clients.workflows.execute_workflow(request(clients.define([step(task, "only")])), wait_for_seconds=1)
    assert run.status == "RUNNING"
    assert [each.status for each in run.tasks] == ["SCHEDULED"]


def test_08_execute_waits_until_a_step_is_over(clients, run_workers):
    task = fresh("add")
    clients.metadata.register_task_def(task_def(task))
    name = clients.define([step(task, "first"), step(fresh("nobody"), "second")])
    with run_workers(clients.configuration, Worker(task, workers.add, poll_interval=20)):
        run = clients.workflows.execute_workflow(request(name), request_id=fresh("r"), wait_until_task_ref="first")
    assert run.status == "RUNNING"
    assert run.tasks[0].status == "COMPLETED"


def test_08_execute_tells_what_blocks(clients, waiting):
    for strategy in ("TARGET_WORKFLOW", "BLOCKING_WORKFLOW"):
        seen = clients.workflows.execute_workflow_with_return_strategy(request(waiting), return_strategy=strategy)
        assert (seen.response_type, seen.status) == (strategy, "RUNNING")
        assert seen.target_workflow_id == seen.workflow_id
    seen = clients.workflows.execute_workflow_with_return_strategy(request(waiting), return_strategy="BLOCKING_TASK")
    assert (seen.response_type, seen.reference_task_name) == ("BLOCKING_TASK", "wait_1")


def test_09_a_signal_wakes_a_run(clients, waiting):
    run = clients.start(waiting)
    clients.reached(run, "wait_1", "IN_PROGRESS")
    clients.task_api.signal_workflow_task_async(run, "COMPLETED", {"said": "hello"})
    assert clients.reached(run, "wait_1", "COMPLETED").output_data["said"] == "hello"
    clients.reached(run, "wait_2", "IN_PROGRESS")
    answered = clients.task_api.signal_workflow_task_sync(run, "COMPLETED", {}, return_strategy="TARGET_WORKFLOW")
    assert (answered.response_type, answered.workflow_id, answered.status.value) == ("TARGET_WORKFLOW", run, "COMPLETED")
    assert answered.output == {"said": "hello"}


def test_09_a_signal_tells_the_next_that_blocks(clients, waiting):
    run = clients.start(waiting)
    clients.reached(run, "wait_1", "IN_PROGRESS")
    answered = clients.task_api.signal_workflow_task_sync(run, "COMPLETED", {}, return_strategy="BLOCKING_TASK")
    assert (answered.reference_task_name, answered.task_type) == ("wait_2", "WAIT")


def test_09_a_signal_needs_a_run_that_waits(clients):
    missing = "00000000-0000-4000-8000-000000000000"
    run = clients.start(clients.define([step(fresh("nobody"), "only")]))
    clients.task_api.signal_workflow_task_async(run, "COMPLETED", {"said": "to nobody"})
    assert clients.workflows.get_workflow(run).status == "RUNNING"
    for call in (clients.task_api.signal_workflow_task_async, clients.task_api.signal_workflow_task_sync):
        with pytest.raises(ApiException) as refused:
            call(missing, "COMPLETED", {"said": "to nobody"})
        assert refused.value.status == 404
    with pytest.raises(ApiException) as refused:
        clients.task_api.signal_workflow_task_sync(run, "COMPLETED", {"said": "to nobody"})
    assert refused.value.status == 404


def test_09_a_step_is_answered_and_the_run_returned(clients, waiting):
    run = clients.start(waiting)
    clients.reached(run, "wait_1", "IN_PROGRESS")
    seen = clients.tasks.update_task_sync(run, "wait_1", "COMPLETED", {"said": "by name"})
    assert (seen.workflow_id, seen.tasks[0].status) == (run, "COMPLETED")
    assert seen.tasks[0].output_data["said"] == "by name"


def test_09_state_is_updated_and_waited_for(clients, waiting):
    run = clients.start(waiting)
    clients.reached(run, "wait_1", "IN_PROGRESS")
    result = TaskResult(workflow_instance_id=run, status=TaskResultStatus.COMPLETED, output_data={"said": "state"})
    update = WorkflowStateUpdate("wait_1", result, {"colour": "blue"})
    seen = clients.workflows.update_state(run, update, wait_until_task_ref_names=["wait_1"], wait_for_seconds=5)
    assert (seen.workflow_id, seen.status, seen.variables) == (run, "RUNNING", {"colour": "blue"})
