# Nobody asks the policy when a worker falls silent.
# It is E8 in docs/reference/rules/traces.md.
define   film: render    response-timeout=2s retries=0 timeout-policy=ALERT_ONLY
start    trailer = film
claim    render by ann
advance  1999ms
show     trailer
> RUNNING  film
>   IN_PROGRESS  render  attempt 0
advance  1ms
show     trailer
> TIMED_OUT  film  because Task # failed with status: TIMED_OUT and reason: 'responseTimeout: 2 exceeded for the taskId: # with Task Definition: render'
>   TIMED_OUT  render  attempt 0
report   render by ann COMPLETED -> STALE
