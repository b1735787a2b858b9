# What begins like our own sink and is none fails the step.
define-json {"name": "checkout", "tasks": [
    {"name": "tell", "taskReferenceName": "tell", "type": "EVENT", "sink": "${workflow.input.where}"}]}
start    one = checkout {"where": "conductors"}
start    two = checkout {"where": "conductor:"}
show     one
> FAILED  checkout
>   FAILED  tell  attempt 0  because Invalid / Unsupported sink specified: conductors
show     two
> FAILED  checkout
>   FAILED  tell  attempt 0  because Invalid / Unsupported sink specified: conductor:
