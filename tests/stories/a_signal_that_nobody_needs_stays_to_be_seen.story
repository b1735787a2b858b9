# The child keeps the signal and does not need it; neither does the run above it, nor the one at the top, which keeps it.
define-json {"name": "kid", "tasks": [
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "choice", "taskReferenceName": "choice", "type": "SWITCH", "evaluatorType": "value-param", "expression": "ask",
     "inputParameters": {"ask": "${work.output.ask}"}, "decisionCases": {
       "yes": [{"name": "hold", "taskReferenceName": "hold", "type": "WAIT"}]}}]}
define-json {"name": "mid", "tasks": [
    {"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "kid"}}]}
define-json {"name": "top", "tasks": [
    {"name": "m", "taskReferenceName": "m", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "mid"}},
    {"name": "end", "taskReferenceName": "end", "type": "SIMPLE"}]}
start    one = top
child    mid = one m
child    kid = mid k
signal   one COMPLETED {"n": 1} -> KEPT
show     kid
> RUNNING  kid  keeps {"n": 1}
>   SCHEDULED  work  attempt 0
claim    work by ann -> kid
report   work by ann COMPLETED {"ask": "no"}
show     kid
> COMPLETED  kid  keeps nothing {"evaluationResult": ["no"], "selectedCase": "no"}
>   COMPLETED  work    attempt 0  {"ask": "no"}
>   COMPLETED  choice  attempt 0  {"evaluationResult": ["no"], "selectedCase": "no"}
show     one
> RUNNING  top  keeps {"n": 1}
>   COMPLETED  m    attempt 0  {"subWorkflowId": "@kid", "evaluationResult": ["no"], "selectedCase": "no"}
>   SCHEDULED  end  attempt 0
claim    end by ann -> one
report   end by ann COMPLETED
show     one
> COMPLETED  top  keeps {"n": 1}
>   COMPLETED  m    attempt 0  {"subWorkflowId": "@kid", "evaluationResult": ["no"], "selectedCase": "no"}
>   COMPLETED  end  attempt 0
verify   one
verify   mid
verify   kid
