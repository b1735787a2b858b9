# A probe without a word about when to ask it: it is asked in doubt.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "probe": {"name": "find_charge", "type": "SIMPLE", "taskReferenceName": "p"}}}]}
start    order = checkout {"order_id": 1}
claim    charge by ann
advance  61s
claim    charge by bob -> nothing
claim    find_charge by bob
report   find_charge by bob COMPLETED {"applied": true, "output": {"charge_id": "ch_1"}}
show     order
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge         attempt 0  {"charge_id": "ch_1"}
>   COMPLETED  charge__probe  attempt 0  {"applied": true, "output": {"charge_id": "ch_1"}}
