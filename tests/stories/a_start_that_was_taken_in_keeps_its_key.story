# COALESCE: every start that was answered has its key taken. Sent again it changes nothing, before and after the run has ended.
define-json {"name": "sync", "concurrency": {"key": "${workflow.input.account}", "policy": "COALESCE"}, "tasks": [
    {"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "inputParameters": {"n": "${workflow.input.n}"}}]}
start    one = sync {"account": "a", "n": 1} key=one strategy=RETURN_EXISTING
start    two = sync {"account": "a", "n": 2} key=two strategy=RETURN_EXISTING
start    three = sync {"account": "a", "n": 3} key=three strategy=RETURN_EXISTING -> two
start    four = sync {"account": "a", "n": 4} key=four strategy=RETURN_EXISTING -> two
# The third is late, and does not undo the fourth.
start    late = sync {"account": "a", "n": 3} key=three strategy=RETURN_EXISTING -> two
start    refused = sync {"account": "a", "n": 3} key=three strategy=FAIL -> 409 two
start    running = sync {"account": "a", "n": 3} key=three strategy=FAIL_ON_RUNNING -> 409 two
start    attached = sync {"account": "a", "n": 3} key=three strategy=RETURN_RUNNING -> two
show     two
> RUNNING  sync from {"account": "a", "n": 4}
claim    copy by ann count=9 -> one
report   copy of one by ann COMPLETED
claim    copy by ann count=9 -> two
report   copy of two by ann COMPLETED
# The run is over, and the keys still stand for it.
start    later = sync {"account": "a", "n": 3} key=three strategy=RETURN_EXISTING -> two
start    fifth = sync {"account": "a", "n": 4} key=four strategy=FAIL -> 409 two
claim    copy by ann count=9 -> nothing
start    new = sync {"account": "a", "n": 5} key=three strategy=FAIL_ON_RUNNING
claim    copy by ann count=9 -> new
