# No attempt is left, and nobody says whether the card was charged: the run waits for somebody who knows.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "HOLD"}}]}
start    order = checkout {"order_id": 1}
claim    charge by ann
report   charge by ann FAILED reason="connection lost"
claim    charge by bob
report   charge by bob FAILED reason="connection lost"
claim    charge by cid -> nothing
show     order
> RUNNING  checkout
>   FAILED       charge  attempt 0
>   IN_PROGRESS  charge  attempt 1  effect UNKNOWN
resolve  order scope=charge key=1 applied {"charge_id": "ch_1"}
show     order
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   FAILED     charge  attempt 0
>   COMPLETED  charge  attempt 1  effect CLAIMED  {"charge_id": "ch_1"}
