"""Prints a run: its status and output, then one line for each task.

    show.py ID         waits until the run has ended, for ten seconds at most
    show.py ID TEXT    waits until what it would print contains TEXT, for ten seconds at most
"""

import json
import os
import sys
import time
import urllib.request

API = os.environ.get("SEMEL_SERVER", "http://127.0.0.1:8080") + "/api"


def show(run):
    lines = [f"{run['status']} {run['workflowName']} {json.dumps(run['output'])}"]
    for task in run["tasks"]:
        words = ["", task["status"], task["referenceTaskName"], f"attempt {task['attempt']}", task.get("effectStatus")]
        lines.append("  ".join(word for word in words if word is not None))
    return "\n".join(lines)


def main(run_id, text=None):
    deadline = time.monotonic() + 10
    while True:
        with urllib.request.urlopen(f"{API}/workflow/{run_id}") as answer:
            run = json.loads(answer.read())
        shown = show(run)
        is_reached = run["status"] not in ("RUNNING", "PAUSED") if text is None else text in shown
        if is_reached or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    print(shown)


if __name__ == "__main__":
    main(*sys.argv[1:])
