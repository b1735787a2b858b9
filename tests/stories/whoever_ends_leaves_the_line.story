# A run that ends while it waits for a lock is in nobody's way.
define-json {"name": "job", "tasks": [
    {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "door"}},
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"}]}
start    one = job
start    two = job
start    three = job
start    four = job
terminate two
remove   three running
claim    work by ann count=9 -> one
report   work of one by ann COMPLETED
claim    work by ann count=9 -> four
show     two
> TERMINATED  job
>   CANCELED  lock  attempt 0
