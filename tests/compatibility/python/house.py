"""Where the server is, and how a test waits for it."""

import os
import time
import uuid

from conductor.client.configuration.configuration import Configuration
from conductor.client.configuration.settings.authentication_settings import AuthenticationSettings
from conductor.client.http.models.task_def import TaskDef
from conductor.client.http.models.workflow_def import WorkflowDef
from conductor.client.http.models.workflow_task import WorkflowTask

DEADLINE_SECONDS = 60
OPEN_API = os.environ["SEMEL_URL"] + "/api"


def configuration(credentials=None, api=OPEN_API):
    settings = AuthenticationSettings(*credentials) if credentials else None
    return Configuration(server_api_url=api, authentication_settings=settings)


def fresh(word):
    """A name that no other test uses."""
    return f"{word}_{uuid.uuid4().hex[:10]}"


def task_def(name, **settings):
    settings = {"retry_count": 0, "timeout_seconds": 300, "response_timeout_seconds": 60, **settings}
    return TaskDef(name=name, owner_email="team@example.com", **settings)


def step(name, reference=None, kind="SIMPLE", **more):
    more.setdefault("input_parameters", {"n": "${workflow.input.n}"})
    return WorkflowTask(name=name, task_reference_name=reference or name, type=kind, **more)


def workflow_def(name, steps, **settings):
    return WorkflowDef(name=name, version=1, tasks=steps, owner_email="team@example.com", **settings)


def eventually(look, what):
    """What `look` gives once it is true."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < deadline, f"waited {DEADLINE_SECONDS} s for {what}"
        time.sleep(0.05)
