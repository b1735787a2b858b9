# A task in the answer would be executed, so a stale update-v2 hands out none, though one waits.
define   checkout: charge    response-timeout=60s retries=1 retry-delay=0s
start    order = checkout
claim    charge by ann
advance  60s
report-v2 charge by ann COMPLETED -> STALE NEXT nothing
report-v2 charge by ann COMPLETED strict -> 409
show     order
> RUNNING  checkout
>   TIMED_OUT  charge  attempt 0
>   SCHEDULED  charge  attempt 1
claim    charge by bob
report-v2 charge by bob COMPLETED -> APPLIED NEXT nothing
show     order
> COMPLETED  checkout
>   TIMED_OUT  charge  attempt 0
>   COMPLETED  charge  attempt 1  by bob
