# Every attempt at a step has the same key; the fence is known only to whom the task is handed.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0}, "inputParameters": {"key": "${CPEWF_EFFECT_KEY}", "attempt": "${CPEWF_ATTEMPT}", "token": "${CPEWF_FENCE}"}}]}
start    order = checkout
claim    charge by ann
report   charge by ann FAILED reason="declined"
claim    charge by bob
report   charge by bob COMPLETED
show     order
> COMPLETED  checkout
>   FAILED     charge  attempt 0  from {"key": "#", "attempt": 1, "token": "${CPEWF_FENCE}"}
>   COMPLETED  charge  attempt 1  from {"key": "#", "attempt": 2, "token": "${CPEWF_FENCE}"}
