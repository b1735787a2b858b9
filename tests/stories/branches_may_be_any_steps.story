# A list of steps and a map of their inputs; what looks like an expression in data is data.
define-json {"name": "plan", "tasks": [
    {"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC", "dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs", "inputParameters": {"steps": "${workflow.input.steps}", "inputs": "${workflow.input.inputs}"}},
    {"name": "gather", "taskReferenceName": "gather", "type": "JOIN"}]}
start    one = plan {"steps": [{"name": "mail", "taskReferenceName": "m1"}, {"name": "wait", "taskReferenceName": "w1", "type": "WAIT", "inputParameters": {"duration": "2s"}}], "inputs": {"m1": {"to": "${workflow.input.steps}"}}}
show     one
> RUNNING  plan
>   COMPLETED  fan  attempt 0
>   SCHEDULED  m1  attempt 0  from {"to":"${workflow.input.steps}"}
>   IN_PROGRESS  w1  attempt 0  from {"duration":"2s"}
>   IN_PROGRESS  gather  attempt 0  from {"joinOn":["m1","w1"]}
claim    mail by ann
report   mail by ann COMPLETED
advance  2s
show     one
> COMPLETED  plan
>   COMPLETED  fan  attempt 0
>   COMPLETED  m1  attempt 0  from {"to":"${workflow.input.steps}"}
>   COMPLETED  w1  attempt 0  from {"duration":"2s"}
>   COMPLETED  gather  attempt 0  from {"joinOn":["m1","w1"]}
