# Asking for more time before the minute is over keeps the task; forgetting to ask loses it.
define   film: render    response-timeout=60s retries=0
start    trailer = film
claim    render by ann
advance  50s
extend   render by ann
advance  50s
extend   render by ann
advance  59s
show     trailer
> RUNNING  film
>   IN_PROGRESS  render  attempt 0  by ann
advance  1s
extend   render by ann -> STALE
show     trailer
> TIMED_OUT  film
>   TIMED_OUT  render  attempt 0  by ann
