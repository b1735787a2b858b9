# Of the cases one has run; what it gave is passed on.
define-json {"name": "either", "tasks": [
    {"name": "s", "taskReferenceName": "s", "type": "SWITCH", "evaluatorType": "value-param", "expression": "case", "inputParameters": {"case": "${workflow.input.way}"}, "decisionCases": {"a": [{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], "b": [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}]}, "defaultCase": []},
    {"name": "j", "taskReferenceName": "j", "type": "EXCLUSIVE_JOIN", "joinOn": ["a", "b"]}]}
start    one = either {"way": "b"}
claim    b by ann
report   b by ann COMPLETED {"by": "b"}
show     one
> COMPLETED  either  {"by":"b"}
>   COMPLETED  s  attempt 0  from {"case":"b","hasChildren":"true"}  {"evaluationResult":["b"],"selectedCase":"b"}
>   COMPLETED  b  attempt 0  {"by":"b"}
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b"],"defaultExclusiveJoinTask":[]}  {"by":"b"}
