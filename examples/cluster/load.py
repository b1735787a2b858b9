#!/usr/bin/env python3
"""Places orders at several nodes, works on them, and counts what became of them.

    load.py ORDERS FILE PORT...

FILE is told how many orders are done so far. Whatever is asked here may be asked twice, so it is
asked, of one node after the other, until it is answered.
"""

import http.client
import itertools
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter

ORDERS, FILE, PORTS = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
WORKERS = 4
TURNS = itertools.count()

started = {}  # Order to run.
twice = set()  # Orders that were given two runs.
told = Counter()  # Tasks whose report was accepted, as the nodes said.
figures = Counter()
lock = threading.Lock()
over = threading.Event()


def ask(path, body=None):
    """The answer, and whether it was a report that came too late."""
    data = None if body is None else json.dumps(body).encode()
    while True:
        port = PORTS[next(TURNS) % len(PORTS)]
        request = urllib.request.Request(f"http://127.0.0.1:{port}/api{path}", data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                text = answer.read().decode()
                return text, answer.headers.get("X-Task-Update") == "STALE"
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise SystemExit(f"{path}: {error.code} {error.read().decode()}")
        except (OSError, http.client.HTTPException):
            with lock:
                figures["unanswered"] += 1
        time.sleep(0.02)


def end_all(failure):
    """A worker that fails ends everything: nobody would do its work, or hear of it."""
    print(f"{failure.thread.name}: {failure.exc_value!r}", file=sys.stderr, flush=True)
    os._exit(1)


def get(path):
    return json.loads(ask(path)[0] or "null")


def define():
    tasks = ["charge", "ship"]
    ask("/metadata/taskdefs", [
        {"name": name, "responseTimeoutSeconds": 2, "timeoutSeconds": 0, "retryDelaySeconds": 0, "retryCount": 10}
        for name in tasks])
    ask("/metadata/workflow", {
        "name": "checkout", "version": 1, "schemaVersion": 2, "ownerEmail": "ann@example.com",
        "tasks": [{"name": name, "taskReferenceName": name, "type": "SIMPLE"} for name in tasks]})


def place_orders():
    for number in range(ORDERS):
        order = f"order-{number}"
        start = {"name": "checkout", "idempotencyKey": order, "idempotencyStrategy": "RETURN_EXISTING"}
        first, second = ask("/workflow", start)[0], ask("/workflow", start)[0]
        if first != second:
            twice.add(order)
        started[order] = first


def tell(count):
    with open(FILE + ".new", "w") as file:
        file.write(str(count))
    os.replace(FILE + ".new", FILE)  # Whoever reads it sees the number before or after.


def work(worker):
    while not over.is_set():
        for kind in ("charge", "ship"):
            poll = f"/tasks/poll/batch/{kind}?workerid={worker}&count=5&timeout=100&pollId={uuid.uuid4()}"
            for task in get(poll):
                report = {name: task[name] for name in ("workflowInstanceId", "taskId", "fenceToken")}
                _, is_stale = ask("/tasks", {**report, "workerId": worker, "status": "COMPLETED", "outputData": {}})
                with lock:
                    if is_stale:
                        figures["stale"] += 1
                        continue
                    told[task["taskId"]] += 1
                    if kind == "ship":
                        figures["done"] += 1
                        tell(figures["done"])


def results(run):
    """How often each task of a run was closed by a report, as its journal has it."""
    entries = get(f"/workflow/{run}/log")
    closed = (change["TaskClosed"] for line in entries if "Reported" in line["entry"]["cause"]
              for change in line["entry"]["changes"] if "TaskClosed" in change)
    return Counter(task["task"] for task in closed)


def main():
    define()
    threading.excepthook = end_all
    names = [f"worker-{number}" for number in range(WORKERS)]
    # Daemons: whatever ends this thread ends them too.
    workers = [threading.Thread(target=work, args=(name,), name=name, daemon=True) for name in names]
    for worker in workers:
        worker.start()
    place_orders()
    statuses = Counter()
    accepted = Counter()
    for run in started.values():
        while (status := get(f"/workflow/{run}?includeTasks=false")["status"]) == "RUNNING":
            time.sleep(0.02)
        statuses[status] += 1
        accepted.update(results(run))
    over.set()
    for worker in workers:
        worker.join()
    doubled = sum(count > 1 for count in accepted.values())
    print(f"orders started: {len(started)}")
    print(f"orders completed: {statuses['COMPLETED']}")
    print(f"orders with two runs: {len(twice)}")
    print(f"tasks with an accepted result: {len(accepted)}")
    print(f"tasks with two accepted results: {doubled}")
    print(f"(asked again because nobody answered: {figures['unanswered']}; reports that came too late: {figures['stale']})", flush=True)
    if told != accepted:
        raise SystemExit(f"{len(told)} reports were accepted, as workers were told, and the journals do not have the same ones")
    if statuses["COMPLETED"] != ORDERS or len(accepted) != 2 * ORDERS or twice or doubled:
        raise SystemExit("something was lost, or done twice")


main()
