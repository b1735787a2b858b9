# SKIP answers with the run in the way, FAIL refuses and names it; neither begins anything.
define-json {"name": "sync", "concurrency": {"policy": "SKIP"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
define-json {"name": "load", "concurrency": {"policy": "FAIL", "limit": 2}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
advance  1s
start    again = sync -> one
advance  1s
start    first = load
advance  1s
start    second = load
advance  1s
start    third = load -> 409 first
claim    copy by ann count=9 -> one first second
report   copy of one by ann COMPLETED
report   copy of first by ann COMPLETED
advance  1s
start    two = sync
advance  1s
start    third = load
advance  1s
start    fourth = load -> 409 second
