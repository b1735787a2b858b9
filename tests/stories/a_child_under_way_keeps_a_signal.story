# The signal is sent to the run at the top. The child that is under way comes to its WAIT first, and keeps it.
define-json {"name": "kid", "tasks": [
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "hold", "taskReferenceName": "hold", "type": "WAIT"}]}
define-json {"name": "top", "tasks": [
    {"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}},
    {"name": "last", "taskReferenceName": "last", "type": "WAIT"}]}
start    one = top
child    kid = one k
signal   one COMPLETED {"n": 1} -> KEPT
claim    work by ann -> kid
report   work by ann COMPLETED
show     kid
> COMPLETED  kid  {"n": 1}
>   COMPLETED  work  attempt 0
>   COMPLETED  hold  attempt 0  {"n": 1}
show     one
> RUNNING  top
>   COMPLETED    k     attempt 0  {"subWorkflowId": "@kid", "n": 1}
>   IN_PROGRESS  last  attempt 0
signal   one COMPLETED {"n": 2} -> APPLIED
signal   one COMPLETED {"n": 3} -> NONE
show     one
> COMPLETED  top  {"n": 2}
>   COMPLETED  k     attempt 0  {"subWorkflowId": "@kid", "n": 1}
>   COMPLETED  last  attempt 0  {"n": 2}
verify   kid
