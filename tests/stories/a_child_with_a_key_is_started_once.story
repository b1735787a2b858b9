# Two parents ask for a child under the same key: the second finds the first one's, and waits for it too.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {
        "name": "parcel", "idempotencyKey": "${workflow.input.address}", "idempotencyStrategy": "RETURN_EXISTING"}},
    {"name": "thank", "taskReferenceName": "thank", "type": "SIMPLE"}]}
start    order = checkout {"address": "Elm St"}
start    extra = checkout {"address": "Elm St"}
start    other = checkout {"address": "Oak St"}
child    parcel = order parcel
child    same = extra parcel -> parcel
child    apart = other parcel
# Whoever only waits for it cannot end it.
terminate extra
show     parcel
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
start    late = checkout {"address": "Elm St"}
child    same = late parcel -> parcel
claim    pack by ann count=2
report   pack of parcel by ann COMPLETED {"box": 7}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0
show     late
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0
# It is over by now, and that is what they are told.
start    last = checkout {"address": "Elm St"}
show     last
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0
