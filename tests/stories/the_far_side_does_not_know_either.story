# In doubt the far side is asked, and does not know: a person has to say.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "PROBE", "probe": {"name": "find_charge", "type": "SIMPLE", "taskReferenceName": "p", "inputParameters": {"order": "${charge.input.order_id}"}}}}]}
start    order = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
advance  61s
claim    find_charge by bob
report   find_charge by bob COMPLETED {"applied": "unknown"}
claim    charge by cid -> nothing
resolve  order scope=charge key=1 applied {"charge_id": "ch_1"}
show     order
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge         attempt 0  effect CLAIMED  {"charge_id": "ch_1"}
>   COMPLETED  charge__probe  attempt 0  {"applied": "unknown"}
