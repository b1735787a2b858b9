# So many may wait, and only so long.
define-json {"name": "sync", "concurrency": {"limit": 1, "maxQueue": 1, "queueTimeoutSeconds": 60}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
start    two = sync
start    three = sync -> 409 one
advance  61s
show     two
> FAILED  sync because queueTimeoutSeconds is over: it waited behind @one at concurrency key ''
start    four = sync
claim    copy by ann count=9 -> one
report   copy of one by ann COMPLETED
claim    copy by ann count=9 -> four
advance  61s
show     four
> RUNNING  sync
>   IN_PROGRESS  copy  attempt 0
