# TIME_OUT_WF means the run: neither a flag nor a retry softens it.
# It is E9 in docs/reference/rules/traces.md.
define   film: render? -> cut    timeout=2s response-timeout=2s timeout-policy=TIME_OUT_WF retries=3 retry-delay=0s
start    trailer = film
claim    render by ann
advance  2s
claim    render by bob -> nothing
claim    cut by bob -> nothing
show     trailer
> TIMED_OUT  film  because Task timed out after 2 seconds. Timeout configured as 2 seconds. Timeout policy configured to TIME_OUT_WF
>   TIMED_OUT  render  attempt 0
