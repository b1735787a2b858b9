# The parcel was perhaps packed before its run failed. Nobody packs it again until somebody says that it was not.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel"},
        "inputParameters": {"order_id": "${workflow.input.order_id}"}, "effect": {"key": "${order_id}"}}]}
start    first = checkout {"order_id": 1}
start    second = checkout {"order_id": 1}
child    gone = first parcel
claim    pack by ann
report   pack by ann FAILED_WITH_TERMINAL_ERROR
show     first
> FAILED  checkout  {"subWorkflowId": "@gone"}
>   FAILED  parcel  attempt 0  effect CLAIMED  {"subWorkflowId": "@gone"}
show     second
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  effect UNKNOWN
claim    pack by bob -> nothing
resolve  first scope=parcel key=1
child    parcel = second parcel
claim    pack by bob -> parcel
report   pack by bob COMPLETED {"box": 7}
show     second
> COMPLETED  checkout  {"subWorkflowId": "@parcel", "box": 7}
>   COMPLETED  parcel  attempt 0  effect CLAIMED  {"subWorkflowId": "@parcel", "box": 7}
