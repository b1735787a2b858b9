# COALESCE: one runs, one waits, and the one that waits has the newest input.
define-json {"name": "sync", "concurrency": {"key": "${workflow.input.account}", "policy": "COALESCE"}, "tasks": [
    {"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "inputParameters": {"n": "${workflow.input.n}"}}]}
start    one = sync {"account": "a", "n": 1}
start    two = sync {"account": "a", "n": 2}
start    three = sync {"account": "a", "n": 3} -> two
start    four = sync {"account": "a", "n": 4} -> two
show     two
> RUNNING  sync from {"account": "a", "n": 4}
claim    copy by ann count=9 -> one
report   copy of one by ann COMPLETED
claim    copy by ann count=9 -> two
show     two
> RUNNING  sync from {"account": "a", "n": 4}
>   IN_PROGRESS  copy  attempt 0  from {"n": 4}
# It is under way: the next one waits behind it.
start    five = sync {"account": "a", "n": 5}
terminate five
start    six = sync {"account": "a", "n": 6}
start    seven = sync {"account": "a", "n": 7} -> six
report   copy of two by ann COMPLETED
claim    copy by ann count=9 -> six
