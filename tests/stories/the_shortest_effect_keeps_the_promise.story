# Nobody wrote down what to do in doubt: a silent worker is not replaced until somebody says.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}"},
        "taskDefinition": {"name": "charge", "retryCount": 3, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}"}}]}
start    order = checkout {"order_id": 1}
claim    charge by ann
advance  61s
claim    charge by bob -> nothing
show     order
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
resolve  order scope=charge key=1 applied {"charge_id": "ch_1"}
show     order
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect CLAIMED  {"charge_id": "ch_1"}
