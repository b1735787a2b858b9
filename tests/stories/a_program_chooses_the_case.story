# A SWITCH can ask a program; what it says, as text, names the case.
define-json {"name": "size", "tasks": [
    {"name": "size", "taskReferenceName": "size", "type": "SWITCH", "evaluatorType": "javascript", "expression": "$.count > 10 ? 'bulk' : $.count", "inputParameters": {"count": "${workflow.input.count}"}, "decisionCases": {"bulk": [{"name": "lorry", "taskReferenceName": "lorry", "type": "SIMPLE"}], "3": [{"name": "bike", "taskReferenceName": "bike", "type": "SIMPLE"}]}, "defaultCase": [{"name": "van", "taskReferenceName": "van", "type": "SIMPLE"}]}]}
start    many = size {"count": 11}
show     many
> RUNNING  size
>   COMPLETED  size  attempt 0  from {"count":11,"case":"bulk","hasChildren":"true"}  {"evaluationResult":["bulk"],"selectedCase":"bulk"}
>   SCHEDULED  lorry  attempt 0
start    three = size {"count": 3}
show     three
> RUNNING  size
>   COMPLETED  size  attempt 0  from {"count":3,"case":"3","hasChildren":"true"}  {"evaluationResult":["3"],"selectedCase":"3"}
>   SCHEDULED  bike  attempt 0
start    five = size {"count": 5}
show     five
> RUNNING  size
>   COMPLETED  size  attempt 0  from {"count":5,"case":"5","hasChildren":"true"}  {"evaluationResult":["5"],"selectedCase":"5"}
>   SCHEDULED  van  attempt 0
