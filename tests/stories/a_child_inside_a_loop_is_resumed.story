# The loop failed only because a step inside it did: the retry goes down to that step's child.
define   kid: first -> second    retries=0
define-json {"name": "long", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopOver": [{"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}}], "loopCondition": "$.loop.iteration < 2"}]}
start    one = long
child    kid = one k__1
claim    first by ann -> kid
report   first by ann COMPLETED
claim    second by ann -> kid
report   second by ann FAILED reason="no"
show     one
> FAILED  long  {"subWorkflowId":"@kid"}
>   CANCELED  loop  attempt 0  {"iteration":1,"1":{"k":{"subWorkflowId":"@kid"}}}
>   FAILED  k__1  attempt 0  {"subWorkflowId":"@kid"}
retry    one resume
show     one
> RUNNING  long
>   IN_PROGRESS  loop  attempt 0  {"iteration":1,"1":{"k":{"subWorkflowId":"@kid"}}}
>   IN_PROGRESS  k__1  attempt 0  {"subWorkflowId":"@kid"}
show     kid
> RUNNING  kid
>   COMPLETED  first   attempt 0
>   FAILED     second  attempt 0
>   SCHEDULED  second  attempt 1
claim    second by ann -> kid
report   second by ann COMPLETED
child    next = one k__2
show     one
> RUNNING  long
>   IN_PROGRESS  loop  attempt 0  {"iteration":2,"1":{"k":{"subWorkflowId":"@kid"}},"2":{"k":{"subWorkflowId":"@next"}}}
>   COMPLETED  k__1  attempt 0  {"subWorkflowId":"@kid"}
>   IN_PROGRESS  k__2  attempt 0  {"subWorkflowId":"@next"}
