# With strict fencing a stale report is an error without being asked for.
define   checkout: charge    response-timeout=60s retries=1 retry-delay=0s strict=true
start    order = checkout
claim    charge by ann
advance  60s
claim    charge by bob
report   charge by ann COMPLETED -> 409
report   charge by bob COMPLETED -> APPLIED
show     order
> COMPLETED  checkout
>   TIMED_OUT  charge  attempt 0
>   COMPLETED  charge  attempt 1  by bob
