# Twenty checkouts of one order at once: one of them charges, the others wait and are told.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}"}}]}
start    first = checkout {"order_id": 1, "amount": 10}
start    w1 = checkout {"order_id": 1, "amount": 10}
start    w2 = checkout {"order_id": 1, "amount": 10}
start    w3 = checkout {"order_id": 1, "amount": 10}
start    w4 = checkout {"order_id": 1, "amount": 10}
start    w5 = checkout {"order_id": 1, "amount": 10}
start    w6 = checkout {"order_id": 1, "amount": 10}
start    w7 = checkout {"order_id": 1, "amount": 10}
start    w8 = checkout {"order_id": 1, "amount": 10}
start    w9 = checkout {"order_id": 1, "amount": 10}
start    w10 = checkout {"order_id": 1, "amount": 10}
start    w11 = checkout {"order_id": 1, "amount": 10}
start    w12 = checkout {"order_id": 1, "amount": 10}
start    w13 = checkout {"order_id": 1, "amount": 10}
start    w14 = checkout {"order_id": 1, "amount": 10}
start    w15 = checkout {"order_id": 1, "amount": 10}
start    w16 = checkout {"order_id": 1, "amount": 10}
start    w17 = checkout {"order_id": 1, "amount": 10}
start    w18 = checkout {"order_id": 1, "amount": 10}
start    w19 = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
claim    charge by bob -> nothing
show     w1
> RUNNING  checkout
>   SCHEDULED  charge  attempt 0  effect WAITING
report   charge by ann COMPLETED {"charge_id": "ch_1"}
claim    charge by bob -> nothing
show     w1
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
show     w10
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
show     w19
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
