# Two checkouts of one order: the card is charged once, and both know the charge.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "fingerprint": ["amount"]}}]}
start    first = checkout {"order_id": 9243, "amount": 10}
claim    charge by ann
report   charge by ann COMPLETED {"charge_id": "ch_1"}
start    second = checkout {"order_id": 9243, "amount": 10}
claim    charge by ann -> nothing
show     first
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect CLAIMED  {"charge_id": "ch_1"}
show     second
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
