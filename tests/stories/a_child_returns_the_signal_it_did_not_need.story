# The child that is under way keeps the signal. It completes without its WAIT, and the run above it takes it.
define-json {"name": "kid", "tasks": [
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "choice", "taskReferenceName": "choice", "type": "SWITCH", "evaluatorType": "value-param", "expression": "ask",
     "inputParameters": {"ask": "${work.output.ask}"}, "decisionCases": {
       "yes": [{"name": "hold", "taskReferenceName": "hold", "type": "WAIT"}]}}]}
define-json {"name": "top", "tasks": [
    {"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}},
    {"name": "last", "taskReferenceName": "last", "type": "WAIT"},
    {"name": "end", "taskReferenceName": "end", "type": "SIMPLE"}]}
start    one = top
child    kid = one k
signal   one COMPLETED {"n": 1} -> KEPT
claim    work by ann -> kid
report   work by ann COMPLETED {"ask": "no"}
show     kid
> COMPLETED  kid  {"evaluationResult": ["no"], "selectedCase": "no"}
>   COMPLETED  work    attempt 0  {"ask": "no"}
>   COMPLETED  choice  attempt 0  {"evaluationResult": ["no"], "selectedCase": "no"}
show     one
> RUNNING  top
>   COMPLETED  k     attempt 0  {"subWorkflowId": "@kid", "evaluationResult": ["no"], "selectedCase": "no"}
>   COMPLETED  last  attempt 0  {"n": 1}
>   SCHEDULED  end   attempt 0
signal   one COMPLETED {"n": 2} -> NONE
verify   one
verify   kid
