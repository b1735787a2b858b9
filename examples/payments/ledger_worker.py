"""A worker that guards its charge by itself, with the ledger the server keeps.

    ledger_worker.py NAME [--crash]    with --crash it dies after the charge, before it is written down
"""

import os
import sys
import time
import urllib.error

from worker import API, PROVIDER, ask, charge, report

SCOPE = "charges"


def ledger(verb, body):
    """The ledger's answer; that somebody else is at it is an answer too."""
    try:
        return ask(f"{API}/effects/{verb}", {"scope": SCOPE, **body})
    except urllib.error.HTTPError as refused:
        if refused.code in (409, 423):
            return {"state": "IN_PROGRESS" if refused.code == 409 else "UNKNOWN"}
        raise


def charge_once(order, name, crashes):
    key = {"key": order["order_id"], "owner": name}
    started = ledger("try-start", {**key, "leaseSeconds": 5, "fingerprint": order, "onUnknown": "takeover"})
    if started["state"] == "COMPLETED":
        print(f"order {order['order_id']} was charged before", flush=True)
        return started["result"]
    if started["state"] == "IN_PROGRESS":
        print(f"order {order['order_id']} is in progress elsewhere", flush=True)
        return None
    found = ask(f"{PROVIDER}/charges/{order['order_id']}") if started.get("takeover") else []
    charged = found[0] if found else charge(order)
    if crashes:
        print("dying before it is written down", flush=True)
        os._exit(1)
    ledger("complete", {**key, "fence": started["fence"], "result": charged})
    return charged


def main(name, crashes):
    while True:
        try:
            poll = f"/tasks/poll/batch/charge_by_ledger?workerid={name}&count=1&timeout=1000"
            for task in ask(API + poll):
                charged = charge_once(task["inputData"], name, crashes)
                if charged is None:
                    report(task, name, "FAILED", {"why": "in progress elsewhere"})
                else:
                    report(task, name, "COMPLETED", charged)
        except urllib.error.URLError:
            time.sleep(0.2)


if __name__ == "__main__":
    main(sys.argv[1], "--crash" in sys.argv)
