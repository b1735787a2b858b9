# Two runs of the same order: one packs the parcel, the other waits and is given the same parcel.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel"},
        "inputParameters": {"order_id": "${workflow.input.order_id}"}, "effect": {"key": "${order_id}"}},
    {"name": "thank", "taskReferenceName": "thank", "type": "SIMPLE"}]}
start    first = checkout {"order_id": 1}
start    second = checkout {"order_id": 1}
child    parcel = first parcel
advance  3600s
show     second
> RUNNING  checkout
>   SCHEDULED  parcel  attempt 0  effect WAITING
claim    pack by ann
claim    pack by bob -> nothing
report   pack by ann COMPLETED {"box": 7}
show     second
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  effect REPLAYED  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0
start    third = checkout {"order_id": 1}
show     third
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  effect REPLAYED  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0
