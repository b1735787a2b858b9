# ALERT_ONLY lets the worker finish.
define   film: render    timeout=30s response-timeout=20s timeout-policy=ALERT_ONLY
start    trailer = film
claim    render by ann
advance  15s
extend   render by ann
advance  16s
extend   render by ann
advance  15s
report   render by ann COMPLETED -> APPLIED
show     trailer
> COMPLETED  film
>   COMPLETED  render  attempt 0
