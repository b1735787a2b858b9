# Given up in doubt: the run fails, and the late word of its worker spares the next one the question.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "FAIL"}}]}
start    first = checkout {"order_id": 1, "amount": 10}
claim    charge by ann
advance  61s
start    second = checkout {"order_id": 1, "amount": 10}
show     second
> FAILED  checkout
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0 because effect charge/1 may have happened
report   charge by ann COMPLETED {"charge_id": "ch_1"}
start    third = checkout {"order_id": 1, "amount": 10}
show     third
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
