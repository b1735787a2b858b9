# SET_VARIABLE is over at once, and what it set is there for every later step.
define-json {"name": "count", "variables": {"n": 1, "kept": "yes"}, "tasks": [
    {"name": "set", "taskReferenceName": "set", "type": "SET_VARIABLE", "inputParameters": {"n": "${workflow.input.n}", "who": "ann"}},
    {"name": "nothing", "taskReferenceName": "nothing", "type": "NOOP"},
    {"name": "use", "taskReferenceName": "use", "type": "SIMPLE", "inputParameters": {
        "n": "${workflow.variables.n}", "who": "${workflow.variables.who}", "kept": "${workflow.variables.kept}"}}]}
start    one = count {"n": 7}
show     one
> RUNNING  count
>   COMPLETED  set      attempt 0
>   COMPLETED  nothing  attempt 0
>   SCHEDULED  use      attempt 0  from {"n":7,"who":"ann","kept":"yes"}
