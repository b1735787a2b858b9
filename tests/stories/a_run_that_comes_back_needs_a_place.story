# A run that lives again counts again: where it was it needs a place at once, as a whole it waits.
define-json {"name": "sync", "concurrency": {}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
define-json {"name": "load", "concurrency": {"policy": "FAIL"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
start    two = sync
claim    copy by ann -> one
report   copy of one by ann FAILED
claim    copy by ann -> two
retry    one -> 409 "concurrency limit"
rerun    one from=copy -> 409
restart  one
show     one
> RUNNING  sync
report   copy of two by ann COMPLETED
claim    copy by ann -> one
report   copy of one by ann FAILED
retry    one
start    three = sync
claim    copy by ann count=9 -> one
report   copy of one by ann COMPLETED
claim    copy by ann count=9 -> three
start    first = load
claim    copy by ann -> first
report   copy of first by ann FAILED
start    second = load
restart  first -> 409 "concurrency limit"
