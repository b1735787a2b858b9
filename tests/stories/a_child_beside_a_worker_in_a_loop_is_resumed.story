# The same inside a loop: the turn goes on, its worker is asked again and its child goes on where it failed.
define   kid: first -> second    retries=0
define-json {"name": "long", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopCondition": "$.loop.iteration < 1", "loopOver": [
        {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}}]]},
        {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "k"]}]}]}
start    one = long
child    kid = one k__1
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
> COMPLETED  long  {"k__1":{"subWorkflowId":"@kid"}}
>   COMPLETED  loop  attempt 0  {"iteration":1,"1":{"f":{},"a":{},"k":{"subWorkflowId":"@kid"},"j":{"k__1":{"subWorkflowId":"@kid"}}}}
>   COMPLETED  f__1  attempt 0
>   COMPLETED  a__1  attempt 1
>   COMPLETED  k__1  attempt 0  {"subWorkflowId":"@kid"}
>   COMPLETED  j__1  attempt 0  {"k__1":{"subWorkflowId":"@kid"}}
