"""The worker of docs/retry-safe-workers.md, as it stands there, against a real server and a provider.

    retry_safe.py extract LANGUAGE FILE    writes the code of that language to FILE
    retry_safe.py check COMMAND...         starts the worker by COMMAND and looks at what it does

The provider does a request with the same key once. It drops its first answer to every key, so a worker
that does not send the same key again charges twice. `SEMEL_URL` is the server.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "retry-safe-workers.md"
SECONDS_MAX = 60


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


class Provider(BaseHTTPRequestHandler):
    """Charges once for each key, and declines an amount of 0."""

    charges, requests = {}, Counter()

    def do_POST(self):
        key = self.headers["Idempotency-Key"]
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Provider.requests[key] += 1
        if not order["amount"]:
            return self.answer(402, {"declined": order["order"]})
        charge = Provider.charges.setdefault(key, {"id": f"ch_{uuid.uuid4()}", **order})
        if Provider.requests[key] == 1:
            self.close_connection = True
            return self.connection.close()  # It has charged, and the worker does not hear of it.
        return self.answer(200, charge)

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):
            pass  # The connection was closed on purpose.

    def log_message(self, *_):
        pass


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["SEMEL_URL"] + "/api" + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
        return json.loads(text) if text[:1] in ("{", "[") else text


def ended(run):
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        seen = call(f"/workflow/{run}")
        if seen["status"] != "RUNNING":
            return seen
        if time.monotonic() > deadline:
            sys.exit(f"the run has not ended: {[(task['status'], task.get('reasonForIncompletion')) for task in seen['tasks']]}")
        time.sleep(0.1)


def expect(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"{what}: {seen}, not {wanted}")


def check(command):
    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    workflow, tasks = map(json.loads, blocks("json"))
    call("/metadata/taskdefs", tasks)
    call("/metadata/workflow", workflow)
    worker = subprocess.Popen(command, start_new_session=True, env={
        **os.environ, "CONDUCTOR_SERVER_URL": os.environ["SEMEL_URL"] + "/api",
        "PROVIDER_URL": f"http://127.0.0.1:{provider.server_port}"})
    try:
        start = lambda order, amount: ended(call("/workflow/charge_order", {"order_id": order, "amount": amount}))
        first = start("R-1", 10)
        expect("the run ended", first["status"], "COMPLETED")
        expect("the attempts", [task["status"] for task in first["tasks"]], ["FAILED", "COMPLETED"])
        expect("the requests", dict(Provider.requests), {"charge-R-1": 2})
        expect("the charges", list(Provider.charges), ["charge-R-1"])
        again = start("R-1", 10)
        expect("another run of this order", again["tasks"][0]["effectStatus"], "REPLAYED")
        expect("the requests after it", dict(Provider.requests), {"charge-R-1": 2})
        declined = start("R-2", 0)
        expect("the declined run", declined["tasks"][0]["status"], "FAILED_WITH_TERMINAL_ERROR")
        expect("the charges in the end", list(Provider.charges), ["charge-R-1"])
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    print("two requests, one charge")


if __name__ == "__main__":
    if sys.argv[1] == "extract":
        Path(sys.argv[3]).write_text(blocks(sys.argv[2])[0])
    else:
        check(sys.argv[2:])
