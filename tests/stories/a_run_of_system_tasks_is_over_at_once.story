# Nobody has to do anything: the run is complete when its start is answered.
define-json {"name": "quick", "outputParameters": {"n": "${workflow.variables.n}", "was": "${workflow.status}"}, "tasks": [
    {"name": "a", "taskReferenceName": "a", "type": "NOOP"},
    {"name": "b", "taskReferenceName": "b", "type": "SET_VARIABLE", "inputParameters": {"n": 3}},
    {"name": "c", "taskReferenceName": "c", "type": "NOOP"}]}
start    run = quick
show     run
> COMPLETED  quick  {"n":3,"was":"COMPLETED"}
>   COMPLETED  a  attempt 0
>   COMPLETED  b  attempt 0
>   COMPLETED  c  attempt 0
