# The owner is ended while its task still lies in the queue: nothing happened, the next one may.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "HOLD"}}]}
start    first = checkout {"order_id": 1, "amount": 10}
start    second = checkout {"order_id": 1, "amount": 10}
terminate first
claim    charge by ann -> second
report   charge by ann COMPLETED {"charge_id": "ch_1"}
show     second
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  {"charge_id": "ch_1"}
