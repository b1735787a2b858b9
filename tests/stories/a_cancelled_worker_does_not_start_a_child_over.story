# Beside the child that failed a worker's task was cancelled: resuming goes down to the child all the same.
define   kid: first -> second    retries=0
define-json {"name": "plain", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "k"]}]}
start    one = plain
child    kid = one k
claim    first by ann -> kid
report   first by ann COMPLETED
claim    second by ann -> kid
report   second by ann FAILED reason="no"
show     one
> FAILED  plain
>   COMPLETED  f  attempt 0
>   CANCELED  a  attempt 0
>   FAILED  k  attempt 0  {"subWorkflowId":"@kid"}
>   CANCELED  j  attempt 0  {"k":{"subWorkflowId":"@kid"}}
retry    one resume
show     one
> RUNNING  plain
>   COMPLETED  f  attempt 0
>   SCHEDULED  a  attempt 1
>   IN_PROGRESS  k  attempt 0  {"subWorkflowId":"@kid"}
>   IN_PROGRESS  j  attempt 0
show     kid
> RUNNING  kid
>   COMPLETED  first   attempt 0
>   FAILED     second  attempt 0
>   SCHEDULED  second  attempt 1
