# A run that is over can be removed: nothing of it is left, and its key is free.
define   checkout: charge
start    order = checkout key=9243
claim    charge by ann
report   charge by ann COMPLETED
start    again = checkout key=9243 -> 409 order
remove   order
show     order
> removed
report   charge by ann COMPLETED -> 404
retry    order -> 404
start    second = checkout key=9243
show     second
> RUNNING  checkout
>   SCHEDULED  charge  attempt 0
