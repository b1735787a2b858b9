# All attempts together have a limit, but it counts from the retry of a person.
define   checkout: charge    retries=3 retry-delay=0s total-timeout=60s timeout-policy=TIME_OUT_WF
start    order = checkout
advance  60s
show     order
> TIMED_OUT  checkout
>   TIMED_OUT  charge  attempt 0
retry    order
advance  59s
claim    charge by ann
report   charge by ann FAILED
show     order
> RUNNING  checkout
>   TIMED_OUT  charge  attempt 0
>   FAILED     charge  attempt 1
>   SCHEDULED  charge  attempt 2
advance  1s
show     order
> TIMED_OUT  checkout
>   TIMED_OUT  charge  attempt 0
>   FAILED     charge  attempt 1
>   TIMED_OUT  charge  attempt 2
