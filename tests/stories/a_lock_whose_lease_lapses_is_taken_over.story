# A holder that takes longer than its lease loses the lock to whoever waits, and cannot give it back.
define-json {"name": "job", "tasks": [
    {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "door", "leaseSeconds": "${workflow.input.seconds}"}},
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "unlock", "taskReferenceName": "unlock", "type": "RELEASE_LOCK", "inputParameters": {"name": "door"}}]}
start    one = job {"seconds": 10}
start    two = job {"seconds": 600}
claim    work by ann count=9 -> one
advance  11s
claim    work by bob count=9 -> two
start    three = job {"seconds": 600}
report   work of one by ann COMPLETED
show     one
> COMPLETED  job {"name": "door", "released": false}
>   COMPLETED  lock    attempt 0  {"name": "door", "fence": "#", "leaseUntil": "#"}
>   COMPLETED  work    attempt 0
>   COMPLETED  unlock  attempt 0  {"name": "door", "released": false}
claim    work by cat count=9 -> nothing
report   work of two by bob COMPLETED
claim    work by cat count=9 -> three
