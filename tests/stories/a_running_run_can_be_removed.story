# Nobody is handed a task of it any more, and its key is free.
define   checkout: charge
start    order = checkout key=9243
claim    charge by ann
remove   order running
report   charge by ann COMPLETED -> 404
claim    charge by bob -> nothing
start    second = checkout key=9243
show     order
> removed
