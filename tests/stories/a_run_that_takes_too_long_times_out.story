# The whole run has ten minutes; what is open when they are over is cancelled.
define   film: render -> cut    workflow-timeout=10m workflow-policy=TIME_OUT_WF
start    trailer = film
claim    render by ann
report   render by ann COMPLETED
claim    cut by bob
advance  599s
show     trailer
> RUNNING      film
>   COMPLETED    render  attempt 0
>   IN_PROGRESS  cut     attempt 0
advance  1s
report   cut by bob COMPLETED -> STALE
show     trailer
> TIMED_OUT  film  because Workflow timed out after 600 seconds. Timeout configured as 600 seconds. Timeout policy configured to TIME_OUT_WF
>   COMPLETED  render  attempt 0
>   CANCELED   cut     attempt 0
