# The charge is declined for good: exactly one of those who waited may try.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}"}}]}
start    first = checkout {"order_id": 1, "amount": 10}
start    second = checkout {"order_id": 1, "amount": 10}
start    third = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
report   charge by ann FAILED_WITH_TERMINAL_ERROR reason=declined
claim    charge by bob -> second
claim    charge by cid -> nothing
report   charge of second by bob COMPLETED {"charge_id": "ch_2"}
show     third
> COMPLETED  checkout  {"charge_id": "ch_2"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_2"}
show     first
> FAILED  checkout
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0
