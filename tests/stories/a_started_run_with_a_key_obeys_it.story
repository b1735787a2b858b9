# A key of its own decides whether a run is begun, found, or in the way.
define   newsletter: write
define-json {"name": "checkout", "tasks": [
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "newsletter", "idempotencyKey": "${workflow.input.who}", "idempotencyStrategy": "${workflow.input.how}"}}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    mine = newsletter key=Ann
start    order = checkout {"who": "Ann", "how": "RETURN_EXISTING"}
started  same = order begin -> mine
start    other = checkout {"who": "Bob", "how": "FAIL"}
started  bobs = other begin
start    third = checkout {"who": "Bob", "how": "FAIL"}
show     third
> FAILED  checkout
>   FAILED  begin  attempt 0  because a run exists under idempotencyKey Bob: @bobs
