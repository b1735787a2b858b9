# A part that is null, missing or empty makes no key: whoever lacks it never gets the run of a stranger.
# A step that starts a run fails, and starts nothing.
define   parcel: pack
define-json {"name": "begin", "tasks": [
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "parcel", "idempotencyKey": "parcel-${workflow.input.id}", "idempotencyStrategy": "RETURN_EXISTING"}}}]}
define-json {"name": "child", "tasks": [
    {"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
        "subWorkflowParam": {"name": "parcel", "idempotencyKey": "child-${workflow.input.id}", "idempotencyStrategy": "RETURN_EXISTING"}}]}
start    first = begin
show     first
> FAILED  begin
>   FAILED_WITH_TERMINAL_ERROR  begin  attempt 0  because startWorkflow.idempotencyKey is parcel-${workflow.input.id}, and ${workflow.input.id} is null, missing or empty: there is no key
start    second = child {"id": " "} key=parents
show     second
> FAILED  child
>   FAILED_WITH_TERMINAL_ERROR  child  attempt 0  because subWorkflowParam.idempotencyKey is child-${workflow.input.id}, and ${workflow.input.id} is null, missing or empty: there is no key
claim    pack by ann -> nothing
start    third = child {"id": 8}
child    box = third child
start    fourth = child {"id": 8}
claim    pack by ann count=9 -> box
# Locks and effects have names of the same kind.
define-json {"name": "lock", "tasks": [
    {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "door-${workflow.input.id}"}}]}
start    fifth = lock {"id": ""}
show     fifth
> FAILED  lock
>   FAILED_WITH_TERMINAL_ERROR  lock  attempt 0  because name is door-${workflow.input.id}, and ${workflow.input.id} is null, missing or empty: there is no key
define-json {"name": "pay", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "inputParameters": {"id": "${workflow.input.id}"}, "effect": {"key": "pay-${id}"}}]}
start    sixth = pay {"id": ""}
show     sixth
> FAILED  pay
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0  because effect.key: pay-${id} comes to nothing with the input of this task: ${id} is null, missing or empty
# Nobody waits for strangers: such a run is not counted.
define-json {"name": "sync", "concurrency": {"key": "account-${workflow.input.account}"}, "tasks": [{"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE"}]}
start    seventh = sync
start    eighth = sync {"account": null}
claim    copy by ann count=9 -> seventh eighth
