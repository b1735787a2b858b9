# Each has what the other wants: whoever would wait for ever fails, and with its run goes its lock.
define-json {"name": "transfer", "tasks": [
    {"name": "mine", "taskReferenceName": "mine", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "${workflow.input.from}"}},
    {"name": "look", "taskReferenceName": "look", "type": "SIMPLE"},
    {"name": "yours", "taskReferenceName": "yours", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "${workflow.input.to}"}},
    {"name": "move", "taskReferenceName": "move", "type": "SIMPLE"}]}
start    one = transfer {"from": "anna", "to": "bert"}
start    two = transfer {"from": "bert", "to": "anna"}
claim    look by ann count=2
report   look of one by ann COMPLETED
show     one
> RUNNING  transfer
>   COMPLETED  mine  attempt 0  {"name": "anna", "fence": "#"}
>   COMPLETED    look  attempt 0
>   IN_PROGRESS  yours  attempt 0
report   look of two by ann COMPLETED
show     two
> FAILED  transfer
>   COMPLETED  mine  attempt 0  {"name": "bert", "fence": "#"}
>   COMPLETED  look  attempt 0
>   FAILED_WITH_TERMINAL_ERROR  yours  attempt 0  because deadlock: this run waits for lock anna, which run @one has; that one waits for lock bert, which this run has
claim    move by ann count=9 -> one
