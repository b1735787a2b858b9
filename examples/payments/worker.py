"""A naive worker: it polls, charges and reports. It keeps no ledger and sends no keys.

    worker.py NAME [--crash]    with --crash it dies after the charge, before its report
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

API = os.environ.get("SEMEL", "http://127.0.0.1:8080") + "/api"
PROVIDER = os.environ.get("PROVIDER", "http://127.0.0.1:9000")


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        text = answer.read().decode()
        return json.loads(text) if text[:1] in "[{" and text else text


def charge(order):
    charged = ask(PROVIDER + "/charges", order)
    print(f"charged order {order['order_id']}: {charged['charge_id']}", flush=True)
    return charged


def report(task, name, status, output):
    held = {field: task[field] for field in ("workflowInstanceId", "taskId", "fenceToken")}
    ask(API + "/tasks", {**held, "workerId": name, "status": status, "outputData": output})


def main(name, crashes):
    while True:
        try:
            poll = f"/tasks/poll/batch/charge_card?workerid={name}&count=1&timeout=1000"
            for task in ask(API + poll):
                charged = charge(task["inputData"])
                if crashes:
                    print("dying before the report", flush=True)
                    os._exit(1)
                report(task, name, "COMPLETED", charged)
        except urllib.error.URLError:
            time.sleep(0.2)


if __name__ == "__main__":
    main(sys.argv[1], "--crash" in sys.argv)
