# What was under way when the run was terminated is tried again; what was done stays done.
define   checkout: charge -> ship
start    order = checkout
claim    charge by ann
report   charge by ann COMPLETED
terminate order reason="fraud suspected"
retry    order
show     order
> RUNNING  checkout  because nothing
>   COMPLETED  charge  attempt 0
>   CANCELED   ship    attempt 0
>   SCHEDULED  ship    attempt 1
