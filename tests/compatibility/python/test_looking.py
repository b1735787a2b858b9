"""Scenarios 10 and 11: finding runs and tasks, their logs and queues."""

import pytest
from conductor.client.http.models.correlation_ids_search_request import CorrelationIdsSearchRequest
from conductor.client.http.models.task_result import TaskResult
from conductor.client.http.models.task_result_status import TaskResultStatus
from conductor.client.http.rest import ApiException

from house import eventually, fresh, step


def found(clients, query, count, **more):
    """The runs that match, once there are so many: the index follows a moment later."""
    def look():
        results = clients.workflows.search(query=query, **more).results
        return len(results) == count and results
    return eventually(look, f"{count} runs with {query}")


def test_10_runs_are_found(clients):
    name, key = clients.define([step(fresh("nobody"), "only")]), fresh("key")
    runs = [clients.start(name, n, correlation_id=f"c-{name}-{n}") for n in range(3)]
    keyed = clients.start(name, 9, idempotency_key=key)
    clients.workflows.terminate_workflow(runs[0])
    found(clients, f"workflowType = '{name}'", 4)
    ended = found(clients, f"workflowType = '{name}' AND status = 'TERMINATED'", 1)[0]
    assert (ended.workflow_id, ended.status, ended.correlation_id) == (runs[0], "TERMINATED", f"c-{name}-0")
    assert ended.start_time.endswith("Z")
    found(clients, f"workflowType IN ({name}) AND status IN (RUNNING,TERMINATED)", 4)
    assert found(clients, f"idempotencyKey = '{key}'", 1)[0].workflow_id == keyed
    assert found(clients, f"correlationId = 'c-{name}-1'", 1)[0].workflow_id == runs[1]
    assert len(found(clients, f"workflowType = '{name}'", 2, size=2)) == 2
    found(clients, None, 4, free_text=name)


def test_10_a_malformed_query_is_refused(clients):
    with pytest.raises(ApiException) as refused:
        clients.workflows.search(query="status ~ 'x'")
    assert refused.value.status == 400


def test_10_everything_is_found_without_a_query(clients):
    clients.start(clients.define([step(fresh("nobody"), "only")]))
    # The SDK sends `query=&queryId=`.
    eventually(lambda: clients.workflows.search(size=1).results, "any run")


def test_10_tasks_are_found(clients):
    task = fresh("sought")
    name = clients.define([step(task, "only")])
    run = clients.start(name)

    def look():
        answered = clients.task_api.search1(start=0, size=10, free_text="*", query=f"taskDefName = '{task}'")
        return answered.total_hits == 1 and answered.results[0]
    seen = eventually(look, "the task")
    assert (seen.workflow_id, seen.status, seen.task_def_name) == (run, "SCHEDULED", task)
    whole = clients.task_api.search_v21(query=f"workflowId = '{run}'")
    assert [each.reference_task_name for each in whole.results] == ["only"]


def test_10_runs_are_found_by_correlation(clients):
    name, ids = clients.define([step(fresh("nobody"), "only")]), [fresh("c"), fresh("c")]
    open_run, closed_run = (clients.start(name, correlation_id=each) for each in ids)
    clients.workflows.terminate_workflow(closed_run)

    def look():
        seen = clients.workflows.get_by_correlation_ids(name, ids, include_completed=True, include_tasks=True)
        return all(seen[each] for each in ids) and seen
    seen = eventually(look, "both runs")
    assert [seen[each][0].workflow_id for each in ids] == [open_run, closed_run]
    only_open = clients.workflows.get_by_correlation_ids(name, ids)
    assert [len(only_open[each]) for each in ids] == [1, 0]
    batch = CorrelationIdsSearchRequest(ids, [name])
    seen = clients.workflows.get_by_correlation_ids_in_batch(batch, include_completed=True)
    assert [seen[each][0].workflow_id for each in ids] == [open_run, closed_run]
    assert clients.workflow_api.get_workflows2(name, ids[0])[0].workflow_id == open_run
    assert open_run in clients.workflow_api.get_running_workflow(name, version=1)


def test_11_logs_and_tasks_are_read(clients):
    task = fresh("logged")
    run = clients.start(clients.define([step(task, "only")]))
    polled = clients.poll(task)
    assert clients.tasks.get_task_logs(polled.task_id) in (None, [])
    clients.tasks.add_task_log(polled.task_id, "plain words")
    # The SDK escapes a message as JSON does but sends it without quotes, so it is kept as it came.
    clients.tasks.add_task_log(polled.task_id, 'say "hi" to me')
    logs = clients.tasks.get_task_logs(polled.task_id)
    assert [line.log for line in logs] == ["plain words", 'say \\"hi\\" to me']
    seen = clients.tasks.get_task(polled.task_id)
    assert (seen.workflow_instance_id, seen.status, seen.poll_count) == (run, "IN_PROGRESS", 1)
    with pytest.raises(ApiException) as refused:
        clients.tasks.get_task("00000000-0000-4000-8000-000000000000")
    assert refused.value.status == 404


def test_11_a_result_is_reported_once(clients):
    task = fresh("once")
    run = clients.start(clients.define([step(task, "only")]))
    polled = clients.poll(task)
    result = TaskResult(run, polled.task_id, worker_id="hand", status=TaskResultStatus.COMPLETED, output_data={"n": 1})
    assert clients.tasks.update_task(result) == polled.task_id
    result.output_data = {"n": 2}
    assert clients.tasks.update_task(result) == polled.task_id
    assert clients.ended(run).tasks[0].output_data == {"n": 1}


def test_11_queues_and_polls_are_counted(clients):
    task = fresh("queued")
    name = clients.define([step(task, "only")])
    for n in range(3):
        clients.start(name, n)
    eventually(lambda: clients.tasks.get_queue_size_for_task(task) == 3, "three tasks in the queue")
    assert clients.task_api.all()[task] == 3
    assert task in clients.task_api.all_verbose()
    batch = clients.tasks.batch_poll_tasks(task, worker_id="hand", count=2, timeout_in_millisecond=100)
    assert len(batch) == 2
    assert clients.tasks.get_queue_size_for_task(task) == 1
    polls = clients.tasks.get_task_poll_data(task)
    assert [(each.queue_name, each.worker_id) for each in polls] == [(task, "hand")]
    everyone = clients.task_api.get_all_poll_data()
    assert any(each.queue_name == task for each in everyone)
    assert clients.task_api.requeue_pending_task(task) is not None
