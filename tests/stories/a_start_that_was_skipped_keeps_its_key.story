# SKIP: a start that was answered with the run in its way is answered so again, also when that run has ended.
define-json {"name": "sync", "concurrency": {"policy": "SKIP"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE"}]}
start    one = sync key=one strategy=RETURN_EXISTING
start    two = sync key=two strategy=RETURN_EXISTING -> one
claim    copy by ann
report   copy of one by ann COMPLETED
start    again = sync key=two strategy=RETURN_EXISTING -> one
claim    copy by ann -> nothing
start    three = sync key=three strategy=RETURN_EXISTING
claim    copy by ann count=9 -> three
