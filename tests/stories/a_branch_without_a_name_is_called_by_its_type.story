# A dynamic fork brings system tasks that have a reference and no name; a child without a version is the latest.
define   child: ship
define-json {"name": "plan", "tasks": [
    {"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC", "dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs", "inputParameters": {"steps": "${workflow.input.steps}", "inputs": {}}},
    {"name": "gather", "taskReferenceName": "gather", "type": "JOIN"}]}
start    one = plan {"steps": [{"taskReferenceName": "rest", "type": "NOOP"}]}
show     one
> COMPLETED  plan
>   COMPLETED  fan     attempt 0
>   COMPLETED  rest    attempt 0
>   COMPLETED  gather  attempt 0
start    two = plan {"steps": [{"taskReferenceName": "below", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "child"}}]}
child    below = two below
show     two
> RUNNING  plan
>   COMPLETED    fan     attempt 0
>   IN_PROGRESS  below   attempt 0  from {"subWorkflowName": "child", "subWorkflowVersion": 1, "workflowInput": {}}  {"subWorkflowId": "@below"}
>   IN_PROGRESS  gather  attempt 0
claim    ship by ann -> below
report   ship by ann COMPLETED
show     below
> COMPLETED  child
>   COMPLETED  ship  attempt 0
