"""A client that loses answers, and starts exactly one run.

Between the client and the server stands a proxy (in this file) that passes every request on and
throws the first answers away, the way a network does: the server has done what it was asked, and the
client does not know. The client draws one Idempotency-Key for what it wants and asks until it is
answered. Python's standard library is all it needs.

    SEMEL=http://127.0.0.1:8080 python3 client.py
"""

import http.client
import http.server
import json
import os
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

SERVER = os.environ.get("SEMEL", "http://127.0.0.1:8080")
WORKFLOW = "retrying_client"
ANSWERS_LOST = 4
TRIES_MAX = 50


class LosingProxy(http.server.BaseHTTPRequestHandler):
    """Passes requests on; the first answers do not come back."""

    lost = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        target = urllib.parse.urlsplit(SERVER)
        onward = http.client.HTTPConnection(target.hostname, target.port, timeout=10)
        onward.request("POST", self.path, body, dict(self.headers))
        answer = onward.getresponse()
        content = answer.read()
        onward.close()
        if LosingProxy.lost < ANSWERS_LOST:
            LosingProxy.lost += 1
            self.close_connection = True
            self.connection.close()  # The server has answered; nobody will hear it.
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "date"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):
            pass  # The connection was closed on purpose.


def call(method, path, body=None):
    """Straight to the server, for what is not part of the demonstration."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data, {"Content-Type": "application/json"})
    request.method = method
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read().decode()
        return json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text


def ask_until_answered(address, path, body):
    """The same request, under the same key, until there is an answer."""
    key = str(uuid.uuid4())
    for attempt in range(1, TRIES_MAX + 1):
        request = urllib.request.Request(f"http://{address}{path}", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("Idempotency-Key", key)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                replayed = answer.headers["Idempotent-Replayed"]
                print(f"attempt {attempt}: answered (Idempotent-Replayed: {replayed})")
                return answer.read().decode(), attempt
        except urllib.error.HTTPError as refusal:
            if not json.loads(refusal.read() or b"{}").get("retryable"):
                raise
            print(f"attempt {attempt}: refused for now ({refusal.code})")
        except (OSError, http.client.HTTPException):
            print(f"attempt {attempt}: the answer is lost")
        time.sleep(random.uniform(0, min(0.02 * 2**attempt, 0.5)))
    raise SystemExit("nobody answered")


def main():
    call("PUT", "/api/metadata/workflow", [{
        "name": WORKFLOW, "version": 1, "schemaVersion": 2,
        "tasks": [{"name": WORKFLOW, "taskReferenceName": "wait", "type": "WAIT"}],
    }])
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LosingProxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    order = str(uuid.uuid4())
    path = f"/api/workflow/{WORKFLOW}?correlationId={order}"
    run, attempts = ask_until_answered(f"127.0.0.1:{proxy.server_port}", path, {"order": order})
    proxy.shutdown()
    runs = runs_of(order)
    print(f"{attempts} attempts, {LosingProxy.lost} answers lost, {len(runs)} run")
    if [found["workflowId"] for found in runs] != [run]:
        raise SystemExit(f"expected exactly the run {run}, found {runs}")


def runs_of(order):
    """Everything that was started for that order; the index may be a moment behind."""
    path = f"/api/workflow/{WORKFLOW}/correlated/{order}?includeClosed=true"
    for _ in range(100):
        found = call("GET", path)
        if found:
            break
        time.sleep(0.05)
    time.sleep(0.2)  # Were there a second one, it would be found by now.
    return call("GET", path)


if __name__ == "__main__":
    main()
