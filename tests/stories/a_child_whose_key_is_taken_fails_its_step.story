# Without a strategy a key in use is an error, and the child of nobody is touched.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel", "idempotencyKey": "Elm St"}}]}
start    mine = parcel key="Elm St"
start    order = checkout
show     order
> FAILED  checkout
>   FAILED  parcel  attempt 0  because a run exists under idempotencyKey Elm St: @mine
show     mine
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
