# A person ends a task that a worker holds. Only whoever says that nothing happened frees the effect.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}"}}]}
start    first = checkout {"order_id": 1}
claim    charge by ann
name     first charge FAILED_WITH_TERMINAL_ERROR {} force
start    second = checkout {"order_id": 1}
claim    charge by bob -> nothing
show     second
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
start    third = checkout {"order_id": 2}
claim    charge by bob -> third
name     third charge FAILED {} force
claim    charge by cid -> nothing
show     third
> RUNNING  checkout
>   FAILED       charge  attempt 0
>   IN_PROGRESS  charge  attempt 1  effect UNKNOWN
start    fourth = checkout {"order_id": 3}
claim    charge by bob -> fourth
name     fourth charge FAILED_WITH_TERMINAL_ERROR {"_effect": {"applied": false}} force
start    fifth = checkout {"order_id": 3}
claim    charge by cid -> fifth
