# The attempt may take 30 seconds in all; staying in touch does not buy more.
define   film: render    timeout=30s response-timeout=20s timeout-policy=RETRY retries=1 retry-delay=0s
start    trailer = film
claim    render by ann
advance  15s
extend   render by ann
advance  14s
show     trailer
> RUNNING      film
>   IN_PROGRESS  render  attempt 0  by ann
advance  1s
claim    render by bob
report   render by ann COMPLETED {"by": "ann"} -> STALE
report   render by bob COMPLETED {"by": "bob"}
show     trailer
> COMPLETED  film  {"by":"bob"}
>   TIMED_OUT  render  attempt 0  because Task timed out after 30 seconds. Timeout configured as 30 seconds. Timeout policy configured to RETRY
>   COMPLETED  render  attempt 1  {"by":"bob"}
