# A retry by hand goes on in the turn that failed.
task-json {"name": "step", "retryCount": 0}
define-json {"name": "long", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopOver": [{"name": "step", "taskReferenceName": "step", "type": "SIMPLE"}], "loopCondition": "$.loop.iteration < 3"}]}
start    one = long
claim    step by ann
report   step by ann COMPLETED {"n": 1}
claim    step by ann
report   step by ann FAILED reason="no"
show     one
> FAILED  long  because Task # failed with status: FAILED and reason: 'no'
>   CANCELED  loop  attempt 0  {"iteration":2,"1":{"step":{"n":1}},"2":{"step":{}}}
>   COMPLETED  step__1  attempt 0  {"n":1}
>   FAILED  step__2  attempt 0  because no
retry    one
claim    step by ann
report   step by ann COMPLETED {"n": 2}
claim    step by ann
report   step by ann COMPLETED {"n": 3}
show     one
> COMPLETED  long  {"n":3}
>   COMPLETED  loop  attempt 0  {"iteration":3,"1":{"step":{"n":1}},"2":{"step":{"n":2}},"3":{"step":{"n":3}}}
>   COMPLETED  step__1  attempt 0  {"n":1}
>   FAILED  step__2  attempt 0  because no
>   COMPLETED  step__2  attempt 1  {"n":2}
>   COMPLETED  step__3  attempt 0  {"n":3}
