"""The clients of one SDK user, and a way to run workers beside a test."""

import contextlib

import pytest
from conductor.client.automator.task_handler import TaskHandler
from conductor.client.http.api.event_resource_api import EventResourceApi
from conductor.client.http.api.task_resource_api import TaskResourceApi
from conductor.client.http.api.workflow_bulk_resource_api import WorkflowBulkResourceApi
from conductor.client.http.api.workflow_resource_api import WorkflowResourceApi
from conductor.client.http.api_client import ApiClient
from conductor.client.http.models.start_workflow_request import StartWorkflowRequest
from conductor.client.orkes_clients import OrkesClients

import house


class Clients:
    """Each client of the SDK, made once."""

    def __init__(self, configuration):
        self.configuration = configuration
        clients = OrkesClients(configuration)
        self.workflows = clients.get_workflow_client()
        self.tasks = clients.get_task_client()
        self.metadata = clients.get_metadata_client()
        self.secrets = clients.get_secret_client()
        self.schemas = clients.get_schema_client()
        self.executor = clients.get_workflow_executor()
        api = ApiClient(configuration)
        self.workflow_api = WorkflowResourceApi(api)
        self.task_api = TaskResourceApi(api)
        self.bulk_api = WorkflowBulkResourceApi(api)
        self.event_api = EventResourceApi(api)

    def define(self, steps, name=None, **settings):
        """Registers a workflow of these steps and returns its name."""
        name = name or house.fresh("workflow")
        self.metadata.register_workflow_def(house.workflow_def(name, steps, **settings))
        return name

    def start(self, name, n=1, **more):
        return self.workflows.start_workflow(StartWorkflowRequest(name=name, version=1, input={"n": n}, **more))

    def ended(self, run):
        return house.eventually(
            lambda: (seen := self.workflows.get_workflow(run)).status not in ("RUNNING", "PAUSED") and seen,
            f"the end of {run}",
        )

    def reached(self, run, reference, status="SCHEDULED"):
        """The last attempt at this step, once it has this status."""
        def look():
            tasks = self.workflows.get_workflow(run).tasks
            found = [task for task in tasks if task.reference_task_name == reference]
            return found and found[-1].status == status and found[-1]
        return house.eventually(look, f"{reference} of {run} to be {status}")

    def poll(self, task_type, **more):
        """The next task of this type."""
        return house.eventually(
            lambda: (task := self.tasks.poll_task(task_type, worker_id="hand", **more)).task_id and task,
            f"a task of type {task_type}",
        )


@contextlib.contextmanager
def running(configuration, *workers):
    """The SDK's own runner, with these workers, until the block ends."""
    handler = TaskHandler(workers=list(workers), configuration=configuration, scan_for_annotated_workers=False)
    handler.start_processes()
    try:
        yield handler
    finally:
        handler.stop_processes()


@pytest.fixture(scope="session")
def clients():
    return Clients(house.configuration())


@pytest.fixture(scope="session")
def run_workers():
    return running
