# The older run ends in the commit that starts the newer one; cancelled, it is made up for as well.
define   undo: clean
define-json {"name": "sync", "failureWorkflow": "undo", "concurrency": {"policy": "CANCEL_RUNNING"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
define-json {"name": "load", "failureWorkflow": "undo", "concurrency": {"policy": "TERMINATE_RUNNING", "limit": 2}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
advance  1s
start    two = sync
failure  undone = one
show     two
> RUNNING  sync
>   SCHEDULED  copy  attempt 0
advance  1s
start    first = load
advance  1s
start    second = load
advance  1s
start    third = load
show     first
> TERMINATED  load because TERMINATE_RUNNING: run @third took its place
>   CANCELED  copy  attempt 0
claim    copy by ann count=9 -> two second third
claim    clean by ann -> undone
