# In doubt the far side is asked: it knows the charge, so nobody charges again.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "PROBE", "probe": {"name": "find_charge", "type": "SIMPLE", "taskReferenceName": "p", "inputParameters": {"order": "${charge.input.order_id}"}}}}]}
start    order = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
advance  61s
claim    find_charge by bob
report   find_charge by bob COMPLETED {"applied": true, "output": {"charge_id": "ch_1"}}
claim    charge by cid -> nothing
show     order
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge         attempt 0  {"charge_id": "ch_1"}
>   COMPLETED  charge__probe  attempt 0  {"applied": true, "output": {"charge_id": "ch_1"}}
