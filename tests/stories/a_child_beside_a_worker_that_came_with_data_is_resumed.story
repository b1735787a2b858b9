# The same where the branches come with the data of the run.
define   kid: first -> second    retries=0
define-json {"name": "fan", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN_DYNAMIC", "dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs", "inputParameters": {"steps": "${workflow.input.steps}", "inputs": "${workflow.input.inputs}"}},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN"}]}
start    one = fan {"steps": [{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}, {"name": "kid", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}}], "inputs": {}}
child    kid = one k
claim    first by ann -> kid
report   first by ann COMPLETED
claim    second by ann -> kid
report   second by ann FAILED reason="no"
retry    one resume
show     kid
> RUNNING  kid
>   COMPLETED  first   attempt 0
>   FAILED     second  attempt 0
>   SCHEDULED  second  attempt 1
claim    second by ann -> kid
report   second by ann COMPLETED
claim    a by ann -> one
report   a by ann COMPLETED
show     one
> COMPLETED  fan  {"k":{"subWorkflowId":"@kid"}}
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 1
>   COMPLETED  k  attempt 0  {"subWorkflowId":"@kid"}
>   COMPLETED  j  attempt 0  {"k":{"subWorkflowId":"@kid"}}
