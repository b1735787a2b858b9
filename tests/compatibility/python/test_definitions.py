"""Scenarios 1 and 2: definitions are registered, runs are started."""

import pytest
from conductor.client.http.models.start_workflow_request import IdempotencyStrategy, StartWorkflowRequest
from conductor.client.http.rest import ApiException

from house import fresh, step, task_def, workflow_def


def test_01_task_definitions_are_registered_and_updated(clients):
    name = fresh("task")
    clients.metadata.register_task_def(task_def(name, retry_count=2, retry_logic="LINEAR_BACKOFF"))
    clients.metadata.register_task_def(task_def(name, retry_count=2, retry_logic="LINEAR_BACKOFF"))
    read = clients.metadata.get_task_def(name)
    assert (read.name, read.retry_count, read.retry_logic) == (name, 2, "LINEAR_BACKOFF")
    clients.metadata.update_task_def(task_def(name, retry_count=5))
    assert clients.metadata.get_task_def(name).retry_count == 5
    assert name in [definition.name for definition in clients.metadata.get_all_task_defs()]
    clients.metadata.unregister_task_def(name)
    with pytest.raises(ApiException) as refused:
        clients.metadata.get_task_def(name)
    assert refused.value.status == 404


def test_01_workflow_definitions_are_registered_and_overwritten(clients):
    name = fresh("workflow")
    clients.metadata.register_workflow_def(workflow_def(name, [step("one")], description="first"), overwrite=False)
    with pytest.raises(ApiException) as refused:
        clients.metadata.register_workflow_def(workflow_def(name, [step("two")]), overwrite=False)
    assert refused.value.status == 409
    clients.metadata.register_workflow_def(workflow_def(name, [step("two")], description="second"), overwrite=True)
    read = clients.metadata.get_workflow_def(name, 1)
    assert (read.description, read.tasks[0].task_reference_name) == ("second", "two")
    clients.metadata.update_workflow_def(workflow_def(name, [step("three")]))
    assert clients.metadata.get_workflow_def(name).tasks[0].name == "three"
    assert name in [definition.name for definition in clients.metadata.get_all_workflow_defs()]
    clients.metadata.unregister_workflow_def(name, 1)
    with pytest.raises(ApiException) as gone:
        clients.metadata.get_workflow_def(name, 1)
    assert gone.value.status == 404


def test_01_a_name_with_a_blank_and_a_slash_is_found_again(clients):
    name = fresh("odd a") + "/b"
    clients.metadata.register_workflow_def(workflow_def(name, [step("one")]))
    assert clients.metadata.get_workflow_def(name).name == name


def test_01_an_invalid_definition_is_told_field_by_field(clients):
    with pytest.raises(ApiException) as refused:
        clients.metadata.register_workflow_def(workflow_def(fresh("workflow"), []))
    assert refused.value.status == 400
    assert "validationErrors" in refused.value.body and "tasks" in refused.value.body


def test_02_a_run_starts_by_request_and_by_name(clients):
    name = clients.define([step("one")])
    run = clients.start(name, 7, correlation_id="order-7", priority=3)
    seen = clients.workflows.get_workflow(run)
    assert (len(run), seen.input, seen.correlation_id, seen.priority) == (36, {"n": 7}, "order-7", 3)
    other = clients.workflows.start_workflow_by_name(name, {"n": 8}, version=1, correlationId="order-8")
    assert clients.workflows.get_workflow(other).input == {"n": 8}
    assert clients.workflows.get_workflow_status(other, include_output=True).status == "RUNNING"


def test_02_an_unknown_workflow_is_not_started(clients):
    with pytest.raises(ApiException) as refused:
        clients.start(fresh("nobody"))
    assert refused.value.status == 404
    assert refused.value.message.startswith("No such workflow defined.")


def test_02_a_definition_may_come_with_the_start(clients):
    name = fresh("inline")
    request = StartWorkflowRequest(name=name, version=1, workflow_def=workflow_def(name, [step("one")]))
    run = clients.workflows.start_workflow(request)
    assert clients.workflows.get_workflow(run).tasks[0].reference_task_name == "one"


def test_02_a_strategy_without_a_key_means_nothing(clients):
    name = clients.define([step("one")])
    # The SDK sends FAIL with every start.
    assert StartWorkflowRequest(name=name).idempotency_strategy == IdempotencyStrategy.FAIL
    assert clients.start(name) != clients.start(name)


def test_02_a_key_starts_one_run(clients):
    name = clients.define([step("one")])
    key = fresh("key")
    run = clients.start(name, idempotency_key=key)
    with pytest.raises(ApiException) as refused:
        clients.start(name, idempotency_key=key, idempotency_strategy=IdempotencyStrategy.FAIL)
    assert refused.value.status == 409
    again = clients.start(name, idempotency_key=key, idempotency_strategy=IdempotencyStrategy.RETURN_EXISTING)
    assert again == run
    assert clients.start(name, idempotency_key=fresh("key")) != run


def test_02_a_run_that_is_not_there_is_told_by_its_id(clients):
    missing = "00000000-0000-4000-8000-000000000000"
    with pytest.raises(ApiException) as refused:
        clients.workflows.get_workflow(missing)
    assert refused.value.status == 404
    assert refused.value.message == f"No such workflow found by id: {missing}"
