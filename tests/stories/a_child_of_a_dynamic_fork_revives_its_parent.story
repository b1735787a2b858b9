# Branches that came with the data are ancestors like any other: retried or run again, their parent goes on.
define   kid: work    retries=0
define-json {"name": "fan", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN_DYNAMIC", "dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs", "inputParameters": {"steps": "${workflow.input.steps}", "inputs": "${workflow.input.inputs}"}},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN"}]}
start    one = fan {"steps": [{"name": "kid", "taskReferenceName": "k1", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}}, {"name": "d", "taskReferenceName": "k2", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "brought", "workflowDefinition": {"name": "brought", "version": 1, "tasks": [{"name": "other", "taskReferenceName": "other", "type": "SIMPLE"}]}}}], "inputs": {}}
child    first = one k1
child    second = one k2
claim    work by ann -> first
report   work by ann FAILED reason="no"
show     one
> FAILED  fan
>   COMPLETED  f  attempt 0
>   FAILED  k1  attempt 0  {"subWorkflowId":"@first"}
>   CANCELED  k2  attempt 0  {"subWorkflowId":"@second"}
>   CANCELED  j  attempt 0  {"k1":{"subWorkflowId":"@first"},"k2":{"subWorkflowId":"@second"}}
retry    first
show     one
> RUNNING  fan
>   COMPLETED  f  attempt 0
>   IN_PROGRESS  k1  attempt 0  {"subWorkflowId":"@first"}
>   IN_PROGRESS  k2  attempt 0  {"subWorkflowId":"@second"}
>   IN_PROGRESS  j  attempt 0
claim    work by ann -> first
report   work by ann FAILED reason="no"
rerun    first from=work
show     one
> RUNNING  fan
>   COMPLETED  f  attempt 0
>   IN_PROGRESS  k1  attempt 0  {"subWorkflowId":"@first"}
>   IN_PROGRESS  k2  attempt 0  {"subWorkflowId":"@second"}
>   IN_PROGRESS  j  attempt 0
claim    other by ann -> second
report   other by ann FAILED_WITH_TERMINAL_ERROR reason="broken"
restart  second
claim    other by ann -> second
report   other by ann COMPLETED {"n": 2}
claim    work by ann -> first
report   work by ann COMPLETED {"n": 1}
show     one
> COMPLETED  fan  {"k1":{"subWorkflowId":"@first","n":1},"k2":{"subWorkflowId":"@second","n":2}}
>   COMPLETED  f  attempt 0
>   COMPLETED  k1  attempt 0  {"subWorkflowId":"@first","n":1}
>   COMPLETED  k2  attempt 0  {"subWorkflowId":"@second","n":2}
>   COMPLETED  j  attempt 0  {"k1":{"subWorkflowId":"@first","n":1},"k2":{"subWorkflowId":"@second","n":2}}
