"""A payment provider that charges whenever it is asked, and knows no keys."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

charges = []


class Provider(BaseHTTPRequestHandler):
    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        charge = {"charge_id": f"ch_{len(charges) + 1}", **order}
        charges.append(charge)
        self.answer(charge)

    def do_GET(self):
        wanted = self.path.rpartition("/")[2]
        self.answer([charge for charge in charges if charge["order_id"] == wanted])

    def answer(self, body):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
