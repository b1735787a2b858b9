# The turns of a loop do different things; a run that is started again does the same things again.
define   parcel: pack
define-json {"name": "order", "tasks": [
    {"name": "weigh", "taskReferenceName": "weigh", "type": "SIMPLE"},
    {"name": "each", "taskReferenceName": "each", "type": "DO_WHILE", "loopCondition": "$.each.iteration < 2", "loopOver": [
        {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "parcel", "idempotencyKey": "${CPEWF_EFFECT_KEY}", "idempotencyStrategy": "FAIL"}}}]}]}
start    two = order
claim    weigh by ann
report   weigh by ann COMPLETED
started  first = two begin__1
started  second = two begin__2
restart  two
claim    weigh by ann
report   weigh by ann COMPLETED
show     two
> FAILED  order
>   COMPLETED  weigh     attempt 0
>   CANCELED   each      attempt 0  {"iteration": 1, "1": {"begin": {}}}
>   FAILED     begin__1  attempt 0  because a run exists under idempotencyKey #: @first
