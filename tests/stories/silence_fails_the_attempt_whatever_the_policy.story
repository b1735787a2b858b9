# The response timeout is how a dead worker is noticed, so even ALERT_ONLY does not soften it.
define   checkout: charge    response-timeout=10s retries=1 retry-delay=5s timeout-policy=ALERT_ONLY
start    order = checkout
claim    charge by ann
advance  9999ms
show     order
> RUNNING      checkout
>   IN_PROGRESS  charge  attempt 0
advance  1ms
show     order
> RUNNING    checkout
>   TIMED_OUT  charge  attempt 0  because responseTimeout: 10 exceeded for the taskId: # with Task Definition: charge
>   SCHEDULED  charge  attempt 1
claim    charge by bob -> nothing
advance  5s
claim    charge by bob
advance  10s
show     order
> TIMED_OUT  checkout  because Task # failed with status: TIMED_OUT and reason: 'responseTimeout: 10 exceeded for the taskId: # with Task Definition: charge'
>   TIMED_OUT  charge  attempt 0
>   TIMED_OUT  charge  attempt 1
report   charge by ann COMPLETED -> STALE
report   charge by bob COMPLETED -> STALE
