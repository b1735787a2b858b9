# A fork and a switch inside a loop: everything is named after its turn.
define-json {"name": "rounds", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopOver": [{"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "s", "taskReferenceName": "s", "type": "SWITCH", "evaluatorType": "value-param", "expression": "case", "inputParameters": {"case": "${loop.output.iteration}"}, "decisionCases": {"1": [{"name": "first", "taskReferenceName": "first", "type": "SIMPLE"}]}, "defaultCase": []}]]}, {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "s"]}], "loopCondition": "$.loop.iteration < 2"}]}
start    one = rounds
claim    a by ann
claim    first by bob
report   first by bob COMPLETED
report   a by ann COMPLETED {"n": 1}
claim    a by ann
report   a by ann COMPLETED {"n": 2}
show     one
> COMPLETED  rounds  {"a__2":{"n":2},"s__2":{"evaluationResult":["2"],"selectedCase":"2"}}
>   COMPLETED  loop  attempt 0  {"iteration":2,"1":{"f":{},"a":{"n":1},"s":{"evaluationResult":["1"],"selectedCase":"1"},"first":{},"j":{"a__1":{"n":1},"s__1":{"evaluationResult":["1"],"selectedCase":"1"}}},"2":{"f":{},"a":{"n":2},"s":{"evaluationResult":["2"],"selectedCase":"2"},"j":{"a__2":{"n":2},"s__2":{"evaluationResult":["2"],"selectedCase":"2"}}}}
>   COMPLETED  f__1  attempt 0
>   COMPLETED  a__1  attempt 0  {"n":1}
>   COMPLETED  s__1  attempt 0  from {"case":"1","hasChildren":"true"}  {"evaluationResult":["1"],"selectedCase":"1"}
>   COMPLETED  first__1  attempt 0
>   COMPLETED  j__1  attempt 0  from {"joinOn":["a__1","s__1"]}  {"a__1":{"n":1},"s__1":{"evaluationResult":["1"],"selectedCase":"1"}}
>   COMPLETED  f__2  attempt 0
>   COMPLETED  a__2  attempt 0  {"n":2}
>   COMPLETED  s__2  attempt 0  from {"case":"2"}  {"evaluationResult":["2"],"selectedCase":"2"}
>   COMPLETED  j__2  attempt 0  from {"joinOn":["a__2","s__2"]}  {"a__2":{"n":2},"s__2":{"evaluationResult":["2"],"selectedCase":"2"}}
