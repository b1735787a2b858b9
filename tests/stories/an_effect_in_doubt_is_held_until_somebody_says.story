# A worker charges the card, or not, and dies; the workflow is ended. Nobody charges again until a person has looked.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "HOLD"}}]}
start    first = checkout {"order_id": 1, "amount": 10}
start    second = checkout {"order_id": 1, "amount": 10}
claim    charge by ann -> first
terminate first
show     second
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
claim    charge by bob -> nothing
resolve  first scope=charge key=1 applied {"charge_id": "ch_1"}
show     second
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
resolve  first scope=charge key=1 -> 409
resolve  first scope=charge key=none -> 404
