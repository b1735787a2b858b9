# Whoever had the task last may still say how it went.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "HOLD"}}]}
start    order = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
advance  61s
report   charge by ann COMPLETED {"charge_id": "ch_1"}
show     order
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect CLAIMED  {"charge_id": "ch_1"}
