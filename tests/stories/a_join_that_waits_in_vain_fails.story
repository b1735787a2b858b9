# A branch that was not taken will not come: the run does not wait for it for ever.
define-json {"name": "vain", "tasks": [
    {"name": "s", "taskReferenceName": "s", "type": "SWITCH", "evaluatorType": "value-param", "expression": "case", "inputParameters": {"case": "x"}, "decisionCases": {"a": [{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}]}, "defaultCase": []},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a"]}]}
start    one = vain
show     one
> FAILED  vain  because Task # failed with status: FAILED and reason: 'it waits for tasks that will not run: a'
>   COMPLETED  s  attempt 0  from {"case":"x"}  {"evaluationResult":["x"],"selectedCase":"x"}
>   FAILED_WITH_TERMINAL_ERROR  j  attempt 0  from {"joinOn":["a"]}  because it waits for tasks that will not run: a
