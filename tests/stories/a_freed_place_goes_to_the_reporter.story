# One at a time: the report that frees the only place brings the next task with it.
define   checkout: charge    limit=1
start    one = checkout
advance  1s
start    two = checkout
claim    charge by ann -> one
claim    charge by bob -> nothing
report-v2 charge by ann COMPLETED -> NEXT two
claim    charge by bob -> nothing
show     two
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  by ann
