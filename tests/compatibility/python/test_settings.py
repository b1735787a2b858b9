"""Scenario 12: tags, secrets, schemas and event handlers. The SDK has no client for the environment."""

import pytest
from conductor.client.http.models.action import Action
from conductor.client.http.models.event_handler import EventHandler
from conductor.client.http.models.schema_def import SchemaDef, SchemaType
from conductor.client.http.models.start_workflow import StartWorkflow
from conductor.client.http.rest import ApiException
from conductor.client.orkes.models.metadata_tag import MetadataTag

from house import eventually, fresh, step, task_def


def pairs(tags):
    return sorted((tag.key, tag.value) for tag in tags)


def test_12_workflows_are_tagged(clients):
    name = clients.define([step("one")])
    clients.metadata.add_workflow_tag(MetadataTag("team", "a"), name)
    assert pairs(clients.metadata.get_workflow_tags(name)) == [("team", "a")]
    clients.metadata.set_workflow_tags([MetadataTag("team", "b"), MetadataTag("tier", "1")], name)
    assert pairs(clients.metadata.get_workflow_tags(name)) == [("team", "b"), ("tier", "1")]
    clients.metadata.delete_workflow_tag(MetadataTag("tier", "1"), name)
    assert pairs(clients.metadata.get_workflow_tags(name)) == [("team", "b")]


def test_12_tasks_are_tagged(clients):
    name = fresh("task")
    clients.metadata.register_task_def(task_def(name))
    clients.metadata.addTaskTag(MetadataTag("team", "a"), name)
    clients.metadata.setTaskTags([MetadataTag("tier", "2")], name)
    assert pairs(clients.metadata.getTaskTags(name)) == [("tier", "2")]
    clients.metadata.deleteTaskTag(MetadataTag("tier", "2"), name)
    assert pairs(clients.metadata.getTaskTags(name)) == []


def test_12_secrets_are_kept(clients):
    key = fresh("secret")
    clients.secrets.put_secret(key, "s3cret")
    assert clients.secrets.get_secret(key) == "s3cret"
    assert clients.secrets.secret_exists(key) is True
    assert key in clients.secrets.list_all_secret_names()
    assert key in clients.secrets.list_secrets_that_user_can_grant_access_to()
    clients.secrets.set_secret_tags([MetadataTag("team", "a")], key)
    assert pairs(clients.secrets.get_secret_tags(key)) == [("team", "a")]
    clients.secrets.delete_secret_tags([MetadataTag("team", "a")], key)
    clients.secrets.delete_secret(key)
    assert clients.secrets.secret_exists(key) is False


def test_12_a_secret_reaches_the_worker(clients):
    key, task = fresh("secret"), fresh("task")
    clients.secrets.put_secret(key, "only for workers")
    name = clients.define([step(task, "only", input_parameters={"password": "${workflow.secrets.%s}" % key})])
    run = clients.start(name)
    assert clients.poll(task).input_data["password"] == "only for workers"
    assert clients.workflows.get_workflow(run).tasks[0].input_data["password"] != "only for workers"


def test_12_schemas_are_registered_and_enforced(clients):
    name, task = fresh("schema"), fresh("task")
    data = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"n": {"type": "integer"}}}
    for _ in range(2):
        clients.schemas.register_schema(SchemaDef(name=name, version=1, type=SchemaType.JSON, data=data))
    read = clients.schemas.get_schema(name, 1)
    assert (read.name, read.version, read.data) == (name, 1, data)
    assert name in [schema.name for schema in clients.schemas.get_all_schemas()]
    enforced = {"input_schema": {"name": name, "version": 1}, "enforce_schema": True}
    clients.metadata.register_task_def(task_def(task, **enforced))
    workflow = clients.define([step(task, "only")])
    clients.reached(clients.start(workflow, 1), "only")
    refused = clients.ended(clients.start(workflow, "one")).tasks[0]
    assert refused.status == "FAILED_WITH_TERMINAL_ERROR"
    assert "input.n: value is not of type" in refused.reason_for_incompletion
    clients.schemas.delete_schema(name, 1)
    with pytest.raises(ApiException) as gone:
        clients.schemas.get_schema(name, 1)
    assert gone.value.status == 404


def test_12_event_handlers_start_runs(clients):
    target, handler = clients.define([step(fresh("nobody"), "only")]), fresh("handler")
    source = fresh("source")
    event = f"conductor:{source}:tell"
    action = Action(action="start_workflow", start_workflow=StartWorkflow(name=target, version=1, input={"n": "${n}"}))
    wanted = EventHandler(name=handler, event=event, actions=[action], active=True)
    clients.event_api.add_event_handler(wanted)
    with pytest.raises(ApiException) as refused:
        clients.event_api.add_event_handler(wanted)
    assert refused.value.status == 409
    assert handler in [each.name for each in clients.event_api.get_event_handlers()]
    assert [each.name for each in clients.event_api.get_event_handlers_for_event(event)] == [handler]
    tell = step("tell", "tell", "EVENT", sink="conductor", input_parameters={"n": "${workflow.input.n}"})
    clients.ended(clients.start(clients.define([tell], name=source), 42))
    started = eventually(lambda: clients.workflow_api.get_running_workflow(target, version=1), "the run of the handler")
    assert clients.workflows.get_workflow(started[0]).input["n"] == 42
    wanted.active = False
    clients.event_api.update_event_handler(wanted)
    assert clients.event_api.get_event_handlers_for_event(event, active_only=True) == []
    clients.event_api.remove_event_handler_status(handler)
    assert handler not in [each.name for each in clients.event_api.get_event_handlers()]
