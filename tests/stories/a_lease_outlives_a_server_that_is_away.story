# While the server is down no worker can ask for more time, so that time does not count.
define   film: render    response-timeout=60s retries=0
start    trailer = film
claim    render by ann
advance  50s
away     10m
advance  9s
show     trailer
> RUNNING  film
>   IN_PROGRESS  render  attempt 0  by ann
away     1h
advance  1s
show     trailer
> TIMED_OUT  film
>   TIMED_OUT  render  attempt 0  by ann
