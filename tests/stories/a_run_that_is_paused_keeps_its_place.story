# Paused is under way; and a run whose turn comes while it is paused begins when it is resumed.
define-json {"name": "sync", "concurrency": {}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
start    two = sync
claim    copy by ann -> one
pause    one
report   copy of one by ann COMPLETED
claim    copy by ann -> nothing
show     two
> RUNNING  sync
pause    two
resume   one
show     one
> COMPLETED  sync
>   COMPLETED  copy  attempt 0
show     two
> PAUSED  sync
resume   two
claim    copy by ann -> two
