# A checkout that only waits is ended: the one that charges does not notice.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}", "amount": "${workflow.input.amount}"},
        "taskDefinition": {"name": "charge", "retryCount": 0, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}"}}]}
start    first = checkout {"order_id": 1, "amount": 10}
start    second = checkout {"order_id": 1, "amount": 10}
claim    charge by ann -> first
terminate second
report   charge by ann COMPLETED {"charge_id": "ch_1"}
show     first
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  {"charge_id": "ch_1"}
show     second
> TERMINATED  checkout
>   CANCELED  charge  attempt 0
