# The same order with another amount is not the same charge: both are named.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "fingerprint": ["amount"]}}]}
start    first = checkout {"order_id": 9243, "amount": 10}
claim    charge by ann
report   charge by ann COMPLETED {"charge_id": "ch_1"}
start    second = checkout {"order_id": 9243, "amount": 20}
show     second
> FAILED  checkout
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0 because effect charge/9243 has happened with {"amount":10}, done by task # of workflow @first; this task asks for {"amount":20} under the same key
