"""Scenarios 14 and 15: with authentication, and credentials where there is none."""

import os
import time

import pytest
from conductor.client.http.rest import ApiException
from conductor.client.worker.worker import Worker

import house
import workers
from conftest import Clients
from house import fresh, step, task_def


@pytest.fixture(scope="module")
def guarded():
    """Where the server with authentication is, and who may come in."""
    assert os.environ.get("SEMEL_AUTH_URL"), "there is no server with authentication"
    return os.environ["SEMEL_AUTH_URL"] + "/api", (os.environ["SEMEL_AUTH_KEY"], os.environ["SEMEL_AUTH_SECRET"])


def test_14_a_key_and_its_secret_open_the_door(guarded):
    api, credentials = guarded
    clients = Clients(house.configuration(credentials, api))
    run = clients.start(clients.define([step("one")]))
    assert clients.workflows.get_workflow(run).status == "RUNNING"


def test_14_an_expired_token_is_replaced(guarded):
    api, credentials = guarded
    clients = Clients(house.configuration(credentials, api))
    name = clients.define([step("one")])
    first = clients.configuration.AUTH_TOKEN
    time.sleep(int(os.environ["SEMEL_TOKEN_SECONDS"]) + 1)
    assert clients.start(name)
    assert clients.configuration.AUTH_TOKEN != first


def test_14_workers_outlive_their_tokens(guarded, run_workers):
    api, credentials = guarded
    clients = Clients(house.configuration(credentials, api))
    task, lifetime = fresh("add"), int(os.environ["SEMEL_TOKEN_SECONDS"])
    clients.metadata.register_task_def(task_def(task))
    name = clients.define([step(task, "only")])
    with run_workers(clients.configuration, Worker(task, workers.add, poll_interval=20)):
        for _ in range(2):
            assert clients.ended(clients.start(name)).status == "COMPLETED"
            time.sleep(lifetime + 1)
        assert clients.ended(clients.start(name)).status == "COMPLETED"


def test_14_a_wrong_secret_does_not(guarded):
    api, (key, _) = guarded
    with pytest.raises(ApiException) as refused:
        Clients(house.configuration((key, "wrong"), api)).start("any")
    assert refused.value.status == 401


def test_14_nothing_is_told_without_a_token(guarded):
    api, _ = guarded
    with pytest.raises(ApiException) as refused:
        Clients(house.configuration(None, api)).workflows.search()
    assert refused.value.status == 401


def test_15_an_open_server_takes_credentials_for_nothing():
    # 404 at `/token` makes the SDK go on without.
    clients = Clients(house.configuration(("key", "secret")))
    assert clients.start(clients.define([step("one")]))
    assert clients.configuration.authentication_settings is None
