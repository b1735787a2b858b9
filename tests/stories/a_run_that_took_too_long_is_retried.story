# The run ended because its time was over. Retried, what was cancelled is done, and the time counts anew.
define   checkout: charge -> ship    workflow-timeout=60s workflow-policy=TIME_OUT_WF
start    order = checkout
claim    charge by ann
report   charge by ann COMPLETED
claim    ship by ann
advance  60s
show     order
> TIMED_OUT  checkout
>   COMPLETED  charge  attempt 0
>   CANCELED   ship    attempt 0  by ann
retry    order
report   ship by ann COMPLETED -> STALE
advance  59s
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0
>   CANCELED   ship    attempt 0
>   SCHEDULED  ship    attempt 1
advance  1s
show     order
> TIMED_OUT  checkout
>   COMPLETED  charge  attempt 0
>   CANCELED   ship    attempt 0
>   CANCELED   ship    attempt 1
retry    order
claim    ship by bob
report   ship by bob COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0
>   CANCELED   ship    attempt 0
>   CANCELED   ship    attempt 1
>   COMPLETED  ship    attempt 2
