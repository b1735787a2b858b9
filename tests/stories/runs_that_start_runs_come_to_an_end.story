# A run that starts its like is stopped when a hundred have led to it.
define-json {"name": "relay", "tasks": [
    {"name": "pass", "taskReferenceName": "pass", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "relay"}}}]}
start    first = relay
started  last = first pass times=100
show     first
> COMPLETED  relay  {"workflowId": "#"}
>   COMPLETED  pass  attempt 0  {"workflowId": "#"}
show     last
> FAILED  relay
>   FAILED  pass  attempt 0  because 100 runs began each other at once; no more is begun
