"""A naive worker: it polls for tasks, works and reports. It keeps no record and sends no keys.

    worker.py NAME TYPE...            works on tasks of these types until it is stopped
    worker.py NAME --crash TYPE...    dies after its first piece of work, before the report

The work of a `charge` is one line in charges.txt, so that charges can be counted. Python's standard
library is all it needs.
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

API = os.environ.get("SEMEL_SERVER", "http://127.0.0.1:8080") + "/api"


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(API + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def say(*words):
    sys.stdout.write(" ".join(words) + "\n")  # One line is one write, so lines of two threads do not mix.
    sys.stdout.flush()


def work(task, name):
    kind, order = task["taskType"], task["inputData"]
    say(name, "does", kind, json.dumps(order))
    if kind == "charge":
        with open("charges.txt", "a") as charges:
            charges.write(f"{order['order_id']} {order['amount']}\n")
    return {"by": name, "receipt": f"{kind} of {order.get('order_id')}"}


def serve(name, kind, crashes):
    while True:
        try:
            for task in json.loads(call(f"/tasks/poll/batch/{kind}?workerid={name}&count=1&timeout=200")):
                output = work(task, name)
                if crashes:
                    say(name, "dies before the report")
                    os._exit(1)
                report = {field: task[field] for field in ("workflowInstanceId", "taskId", "fenceToken")}
                call("/tasks", {**report, "workerId": name, "status": "COMPLETED", "outputData": output})
        except urllib.error.HTTPError:
            raise
        except OSError:  # The server is away: ask again. Nothing is lost and nothing happens twice.
            time.sleep(0.2)


if __name__ == "__main__":
    name, *kinds = [word for word in sys.argv[1:] if word != "--crash"]
    for kind in kinds:
        threading.Thread(target=serve, args=(name, kind, "--crash" in sys.argv)).start()
