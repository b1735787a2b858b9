# A run older than its timeout can be run again from a step: its time, and that of the step, begin now.
define   checkout: charge -> ship    retries=0 total-timeout=60s workflow-timeout=100s workflow-policy=TIME_OUT_WF
start    order = checkout
claim    charge by ann
report   charge by ann COMPLETED
advance  50s
claim    ship by ann
report   ship by ann FAILED
advance  1h
rerun    order from=ship
advance  59s
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0
>   SCHEDULED  ship    attempt 0
claim    ship by ann
report   ship by ann COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0
>   COMPLETED  ship    attempt 0
