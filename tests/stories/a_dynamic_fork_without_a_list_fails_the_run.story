# What cannot be forked is told.
define-json {"name": "plan", "tasks": [
    {"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC", "dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs", "inputParameters": {"steps": "${workflow.input.steps}", "inputs": {}}},
    {"name": "gather", "taskReferenceName": "gather", "type": "JOIN"}]}
start    one = plan
show     one
> FAILED  plan  because Input 'steps' is invalid. Cannot deserialize a list of Workflow Tasks from 'null'
>   FAILED_WITH_TERMINAL_ERROR  fan  attempt 0  from {"steps":null,"inputs":{}}  because Input 'steps' is invalid. Cannot deserialize a list of Workflow Tasks from 'null'
