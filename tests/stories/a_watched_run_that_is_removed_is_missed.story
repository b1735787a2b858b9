# Found under a key, waited for, and removed: the step that waited fails.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {
        "name": "parcel", "idempotencyKey": "Elm St", "idempotencyStrategy": "RETURN_EXISTING"}}]}
start    mine = parcel key="Elm St"
start    order = checkout
child    same = order parcel -> mine
remove   mine running
show     order
> FAILED  checkout  {"subWorkflowId": "@mine"}
>   FAILED  parcel  attempt 0  {"subWorkflowId": "@mine"}  because Sub workflow @mine cannot be waited for: it was removed
