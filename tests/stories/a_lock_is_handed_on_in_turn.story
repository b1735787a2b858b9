# One run has the lock; whoever comes later waits in line and gets it in turn.
define-json {"name": "job", "tasks": [
    {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "${workflow.input.lock}"}},
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "unlock", "taskReferenceName": "unlock", "type": "RELEASE_LOCK", "inputParameters": {"name": "${workflow.input.lock}"}},
    {"name": "rest", "taskReferenceName": "rest", "type": "SIMPLE"}]}
start    one = job {"lock": "door"}
advance  1s
start    two = job {"lock": "door"}
advance  1s
start    three = job {"lock": "door"}
advance  1s
start    other = job {"lock": "window"}
claim    work by ann count=9 -> one other
show     two
> RUNNING  job
>   IN_PROGRESS  lock  attempt 0
report   work of one by ann COMPLETED
show     one
> RUNNING  job
>   COMPLETED  lock    attempt 0  {"name": "door", "fence": "#"}
>   COMPLETED  work    attempt 0
>   COMPLETED  unlock  attempt 0  {"name": "door", "released": true}
>   SCHEDULED  rest    attempt 0
claim    work by bob count=9 -> two
report   work of two by bob COMPLETED
claim    work by cat count=9 -> three
show     three
> RUNNING  job
>   COMPLETED    lock  attempt 0  {"name": "door", "fence": "#"}
>   IN_PROGRESS  work  attempt 0
