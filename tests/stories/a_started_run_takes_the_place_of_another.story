# TERMINATE_EXISTING of a step: the run before ends in the commit that begins the new one, be it the starter itself.
define   newsletter: write
define-json {"name": "checkout", "tasks": [
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "newsletter", "idempotencyKey": "Ann", "idempotencyStrategy": "TERMINATE_EXISTING"}}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    mine = newsletter key=Ann
start    order = checkout
started  next = order begin
show     mine
> TERMINATED  newsletter
>   CANCELED  write  attempt 0
show     next
> RUNNING  newsletter
>   SCHEDULED  write  attempt 0
define-json {"name": "again", "tasks": [
    {"name": "turn", "taskReferenceName": "turn", "type": "SIMPLE"},
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "again", "idempotencyKey": "loop", "idempotencyStrategy": "TERMINATE_EXISTING"}}},
    {"name": "never", "taskReferenceName": "never", "type": "SIMPLE"}]}
start    one = again key=loop
claim    turn by ann -> one
report   turn by ann COMPLETED
started  two = one begin
start    same = again key=loop strategy=RETURN_EXISTING -> two
claim    never by ann -> nothing
claim    turn by ann -> two
