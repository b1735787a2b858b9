# One run per account at a time; whoever comes later begins when its turn has come.
define-json {"name": "sync", "concurrency": {"key": "${workflow.input.account}"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
start    one = sync {"account": "a"}
advance  1s
start    two = sync {"account": "a"}
advance  1s
start    three = sync {"account": "a"}
advance  1s
start    four = sync {"account": "a"}
advance  1s
start    other = sync {"account": "b"}
advance  1s
start    free = sync
advance  1s
start    free_too = sync {"account": " "}
claim    copy by ann count=9 -> one other free free_too
show     two
> RUNNING  sync
jump     two copy -> 409 "waits for its turn"
# Whoever ends while it waits is in nobody's way.
terminate three reason="not needed"
report   copy of one by ann COMPLETED
claim    copy by bob count=9 -> two
report   copy of two by bob FAILED
claim    copy by cat count=9 -> four
show     three
> TERMINATED  sync
