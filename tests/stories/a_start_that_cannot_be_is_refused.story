# Nothing is left behind by a start that was refused, not even its key.
start    order = checkout key=9243 -> 404
define   checkout: charge
start    order = checkout key=9243 version=7 -> 404
start    order = checkout key=9243 priority=100 -> 400
start    order = checkout key=9243
show     order
> RUNNING  checkout
>   SCHEDULED  charge  attempt 0
