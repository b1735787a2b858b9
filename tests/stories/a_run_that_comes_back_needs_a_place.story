# A run that lives again counts again: it waits for a place like a start, and goes on where it was.
define-json {"name": "sync", "concurrency": {}, "tasks": [{"name": "look", "taskReferenceName": "look", "type": "SIMPLE"}, {"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
define-json {"name": "load", "concurrency": {"policy": "FAIL"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
start    two = sync
claim    look by ann -> one
report   look of one by ann COMPLETED {"n": 1}
claim    copy by ann -> one
report   copy of one by ann FAILED
claim    look by ann -> two
retry    one
show     one
> RUNNING  sync
>   COMPLETED  look  attempt 0  {"n": 1}
>   FAILED  copy  attempt 0
retry    one -> 404
claim    copy by ann count=9 -> nothing
report   look of two by ann COMPLETED
claim    copy by ann -> two
report   copy of two by ann COMPLETED
claim    copy by ann -> one
report   copy of one by ann FAILED
start    three = sync
rerun    one from=copy task-input={"again": true}
pause    one
terminate three
claim    copy by ann count=9 -> nothing
resume   one
show     one
> RUNNING  sync
>   COMPLETED  look  attempt 0  {"n": 1}
>   FAILED  copy  attempt 0
>   SCHEDULED  copy  attempt 1  from {"again": true}
claim    copy by ann -> one
report   copy of one by ann COMPLETED
start    four = sync
restart  one
show     one
> RUNNING  sync
terminate one
start    first = load
claim    copy by ann -> first
report   copy of first by ann FAILED
start    second = load
retry    first -> 409 "concurrency limit"
restart  first -> 409 "concurrency limit"
