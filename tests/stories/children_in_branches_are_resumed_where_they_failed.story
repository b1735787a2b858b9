# Three children in a fork: one done, one failed, one cancelled for it; resuming leaves the first alone.
define   kid1: work1    retries=0
define   kid2: work2    retries=0
define   kid3: work3    retries=0
define-json {"name": "house", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "k1", "taskReferenceName": "k1", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid1"}}], [{"name": "k2", "taskReferenceName": "k2", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid2"}}], [{"name": "k3", "taskReferenceName": "k3", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid3"}}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["k1", "k2", "k3"]}]}
start    one = house
child    first = one k1
child    second = one k2
child    third = one k3
claim    work1 by ann -> first
report   work1 by ann COMPLETED {"n": 1}
claim    work2 by ann -> second
report   work2 by ann FAILED reason="no"
show     one
> FAILED  house  because Task # failed with status: FAILED and reason: 'Sub workflow kid2.1/@second failure reason: Task # failed with status: FAILED and reason: 'no''
>   COMPLETED  f  attempt 0
>   COMPLETED  k1  attempt 0  from {"subWorkflowName":"kid1","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@first","n":1}
>   FAILED  k2  attempt 0  from {"subWorkflowName":"kid2","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@second"}  because Sub workflow kid2.1/@second failure reason: Task # failed with status: FAILED and reason: 'no'
>   CANCELED  k3  attempt 0  from {"subWorkflowName":"kid3","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@third"}
>   CANCELED  j  attempt 0  from {"joinOn":["k1","k2","k3"]}  {"k1":{"subWorkflowId":"@first","n":1},"k2":{"subWorkflowId":"@second"},"k3":{"subWorkflowId":"@third"}}
retry    one resume
show     one
> RUNNING  house
>   COMPLETED  f  attempt 0
>   COMPLETED  k1  attempt 0  from {"subWorkflowName":"kid1","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@first","n":1}
>   IN_PROGRESS  k2  attempt 0  from {"subWorkflowName":"kid2","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@second"}
>   IN_PROGRESS  k3  attempt 0  from {"subWorkflowName":"kid3","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@third"}
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["k1","k2","k3"]}  {"k1":{"subWorkflowId":"@first","n":1}}
claim    work2 by ann -> second
report   work2 by ann COMPLETED
claim    work3 by ann -> third
report   work3 by ann COMPLETED
show     one
> COMPLETED  house  {"k1":{"subWorkflowId":"@first","n":1},"k2":{"subWorkflowId":"@second"},"k3":{"subWorkflowId":"@third"}}
>   COMPLETED  f  attempt 0
>   COMPLETED  k1  attempt 0  from {"subWorkflowName":"kid1","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@first","n":1}
>   COMPLETED  k2  attempt 0  from {"subWorkflowName":"kid2","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@second"}
>   COMPLETED  k3  attempt 0  from {"subWorkflowName":"kid3","subWorkflowVersion":1,"workflowInput":{}}  {"subWorkflowId":"@third"}
>   COMPLETED  j  attempt 0  from {"joinOn":["k1","k2","k3"]}  {"k1":{"subWorkflowId":"@first","n":1},"k2":{"subWorkflowId":"@second"},"k3":{"subWorkflowId":"@third"}}
