# What Orkes calls a rate limit of a workflow: so many runs at a time, the others wait.
define-json {"name": "sync", "rateLimitConfig": {"rateLimitKey": "all", "concurrentExecLimit": 2}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync
advance  1s
start    two = sync
advance  1s
start    three = sync
advance  1s
start    four = sync
claim    copy by ann count=9 -> one two
report   copy of two by ann COMPLETED
claim    copy by ann count=9 -> three
remove   one running
claim    copy by ann count=9 -> four
