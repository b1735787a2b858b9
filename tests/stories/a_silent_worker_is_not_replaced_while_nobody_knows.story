# Held in doubt, the task is offered again only when a person says that nothing happened.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "HOLD"}}]}
start    order = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
advance  61s
claim    charge by bob -> nothing
show     order
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
resolve  order scope=charge key=1
claim    charge by bob
report   charge by ann COMPLETED {"charge_id": "ch_1"} -> STALE
report   charge by bob COMPLETED {"charge_id": "ch_2"}
show     order
> COMPLETED  checkout  {"charge_id": "ch_2"}
>   COMPLETED  charge  attempt 0  effect CLAIMED  {"charge_id": "ch_2"}
