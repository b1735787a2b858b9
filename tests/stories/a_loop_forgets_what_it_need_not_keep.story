# keepLastN keeps the last turns only, in the output and among the tasks.
define-json {"name": "long", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopOver": [{"name": "step", "taskReferenceName": "step", "type": "SIMPLE"}], "loopCondition": "$.loop.iteration < 4", "inputParameters": {"keepLastN": 2}}]}
start    one = long
claim    step by ann
report   step by ann COMPLETED {"n": 1}
claim    step by ann
report   step by ann COMPLETED {"n": 2}
claim    step by ann
report   step by ann COMPLETED {"n": 3}
claim    step by ann
report   step by ann COMPLETED {"n": 4}
show     one
> COMPLETED  long  {"n":4}
>   COMPLETED  loop  attempt 0  from {"keepLastN":2}  {"iteration":4,"3":{"step":{"n":3}},"4":{"step":{"n":4}}}
>   COMPLETED  step__3  attempt 0  {"n":3}
>   COMPLETED  step__4  attempt 0  {"n":4}
