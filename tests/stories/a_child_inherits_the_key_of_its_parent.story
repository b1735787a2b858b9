# A strategy without a key on a sub-workflow is about its parent's key, under the name of the child.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {
        "name": "parcel", "idempotencyStrategy": "RETURN_EXISTING"}}]}
start    mine = parcel key=order-7
start    order = checkout key=order-7
child    same = order parcel -> mine
start    other = checkout key=order-8
child    own = other parcel
start    again = parcel key=order-8 strategy=RETURN_EXISTING -> own
claim    pack by ann count=2
report   pack of mine by ann COMPLETED {"box": 7}
show     order
> COMPLETED  checkout  {"subWorkflowId": "@mine", "box": 7}
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@mine", "box": 7}
show     other
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@own"}
