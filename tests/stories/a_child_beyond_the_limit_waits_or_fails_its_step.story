# Inside a run nobody can be told no: a child waits for its turn, or fails its step where it must not wait.
define-json {"name": "parcel", "concurrency": {}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
define-json {"name": "letter", "concurrency": {"policy": "SKIP"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE", "taskDefinition": {"name": "copy", "retryCount": 0}}]}
define   order: (parcel)
define   note: (letter)
start    one = order
start    two = order
child    first = one parcel
child    second = two parcel
claim    copy by ann count=9 -> first
terminate one
claim    copy by ann count=9 -> second
start    alone = letter
start    three = note
show     three
> FAILED  note  {"subWorkflowId": "#"}
>   FAILED  letter  attempt 0  {"subWorkflowId": "#"}
