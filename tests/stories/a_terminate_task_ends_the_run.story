# TERMINATE says how the run ends and with what; what stands after it never begins.
define-json {"name": "stop", "outputParameters": {"ignored": true}, "tasks": [
    {"name": "look", "taskReferenceName": "look", "type": "SIMPLE"},
    {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "inputParameters": {
        "terminationStatus": "FAILED", "terminationReason": "nothing there", "workflowOutput": {"seen": "${look.output.seen}"}}},
    {"name": "never", "taskReferenceName": "never", "type": "SIMPLE"}]}
start    run = stop
claim    look by ann
report   look by ann COMPLETED {"seen": 0}
show     run
> FAILED  stop  {"seen":0}  because nothing there
>   COMPLETED  look  attempt 0  {"seen":0}
>   COMPLETED  end   attempt 0  {"seen":0}
