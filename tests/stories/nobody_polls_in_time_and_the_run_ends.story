# The default policy ends the run when nobody takes its task in time.
define   film: render -> cut    poll-timeout=60s retries=3
start    trailer = film
advance  60s
claim    render by ann -> nothing
show     trailer
> TIMED_OUT  film  because Task poll timed out after 60 seconds. Poll timeout configured as 60 seconds. Timeout policy configured to TIME_OUT_WF
>   TIMED_OUT  render  attempt 0
