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
# A sink that only Conductor has is registered, with a warning, and fails the same way.
define-json {"name": "orders", "tasks": [
    {"name": "tell", "taskReferenceName": "tell", "type": "EVENT", "sink": "kafka:orders"}]}
start    three = orders
show     three
> FAILED  orders
>   FAILED  tell  attempt 0  because Invalid / Unsupported sink specified: kafka:orders
