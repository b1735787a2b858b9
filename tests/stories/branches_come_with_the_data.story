# A dynamic fork makes one task for each input; what is no object is wrapped.
define-json {"name": "album", "tasks": [
    {"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC", "inputParameters": {"forkTaskName": "resize", "forkTaskInputs": "${workflow.input.sizes}"}},
    {"name": "gather", "taskReferenceName": "gather", "type": "JOIN"},
    {"name": "show", "taskReferenceName": "show", "type": "SIMPLE"}]}
start    one = album {"sizes": [{"w": 100}, {"w": 200, "optional": true}, "raw"]}
claim    resize by ann -> one
report   resize by ann COMPLETED {"n": 0}
claim    resize by ann -> one
report   resize by ann FAILED_WITH_TERMINAL_ERROR reason="too wide"
claim    resize by ann -> one
report   resize by ann COMPLETED {"n": 2}
show     one
> RUNNING  album
>   COMPLETED  fan  attempt 0
>   COMPLETED  _resize_0  attempt 0  from {"w":100,"__index":0}  {"n":0}
>   COMPLETED_WITH_ERRORS  _resize_1  attempt 0  from {"w":200,"optional":true,"__index":1}  because too wide
>   COMPLETED  _resize_2  attempt 0  from {"input":"raw","__index":2}  {"n":2}
>   COMPLETED_WITH_ERRORS  gather  attempt 0  from {"joinOn":["_resize_0","_resize_1","_resize_2"]}  {"_resize_0":{"n":0},"_resize_2":{"n":2}}  because resize/# completed with errors
>   SCHEDULED  show  attempt 0
start    empty = album {"sizes": []}
show     empty
> RUNNING  album
>   COMPLETED  fan  attempt 0  from {"forkTaskName":"resize","forkTaskInputs":[],"forkedTasks":[],"forkedTaskDefs":[]}
>   COMPLETED  gather  attempt 0  from {"joinOn":[]}
>   SCHEDULED  show  attempt 0
