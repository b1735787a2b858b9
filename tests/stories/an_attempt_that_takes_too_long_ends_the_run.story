# TIME_OUT_WF asks for no retry: the run is over, even though three more attempts were allowed.
define   film: render -> cut    timeout=30s response-timeout=20s timeout-policy=TIME_OUT_WF retries=3 retry-delay=0s
start    trailer = film
claim    render by ann
advance  15s
extend   render by ann
advance  15s
report   render by ann COMPLETED -> STALE
show     trailer
> TIMED_OUT  film  because Task timed out after 30 seconds. Timeout configured as 30 seconds. Timeout policy configured to TIME_OUT_WF
>   TIMED_OUT  render  attempt 0  by ann
