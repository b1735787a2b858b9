# A SWITCH whose program throws fails, and with it the run; a retry by hand asks again.
define-json {"name": "broken", "tasks": [
    {"name": "pick", "taskReferenceName": "pick", "type": "SWITCH", "evaluatorType": "javascript", "expression": "$.a.b.c", "decisionCases": {"x": [{"name": "x", "taskReferenceName": "x", "type": "SIMPLE"}]}}]}
start    one = broken
show     one
> FAILED  broken  because Task # failed with status: FAILED and reason: 'TypeError: cannot read property 'b' of undefined at line 1'
>   FAILED  pick  attempt 0  because TypeError: cannot read property 'b' of undefined at line 1
