# The worker falls silent while the run is paused; that is noticed when the run goes on.
define   checkout: charge    response-timeout=60s retries=1 retry-delay=0s
start    order = checkout
claim    charge by ann
pause    order
advance  10m
show     order
> PAUSED  checkout
>   IN_PROGRESS  charge  attempt 0
resume   order
show     order
> RUNNING  checkout
>   TIMED_OUT  charge  attempt 0
>   SCHEDULED  charge  attempt 1
report   charge by ann COMPLETED -> STALE
