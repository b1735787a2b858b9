# Restart and rerun are retries too; whoever wants a second charge must say so.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}"}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
report   charge by ann COMPLETED {"charge_id": "ch_1"}
terminate order
restart  order
claim    charge by ann -> nothing
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
>   SCHEDULED  ship  attempt 0
terminate order
rerun    order from=charge
claim    charge by ann -> nothing
terminate order
restart  order redo
claim    charge by ann
report   charge by ann COMPLETED {"charge_id": "ch_2"}
terminate order
restart  order
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_2"}
>   SCHEDULED  ship  attempt 0
terminate order
rerun    order from=charge redo
claim    charge by ann
report   charge by ann COMPLETED {"charge_id": "ch_3"}
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0  effect CLAIMED  {"charge_id": "ch_3"}
>   SCHEDULED  ship  attempt 0
