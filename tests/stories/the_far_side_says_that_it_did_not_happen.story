# In doubt the far side is asked: it knows of no charge, so the step is tried again.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "PROBE", "probe": {"name": "find_charge", "type": "SIMPLE", "taskReferenceName": "p", "inputParameters": {"order": "${charge.input.order_id}"}}}}]}
start    order = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
advance  61s
claim    find_charge by bob
report   find_charge by bob COMPLETED {"applied": false}
claim    charge by cid
report   charge by cid COMPLETED {"charge_id": "ch_2"}
show     order
> COMPLETED  checkout  {"charge_id": "ch_2"}
>   FAILED     charge         attempt 0  {"_effect": {"applied": false}}
>   COMPLETED  charge__probe  attempt 0  {"applied": false}
>   COMPLETED  charge         attempt 1  {"charge_id": "ch_2"}
