# A task that nobody takes within a minute is replaced by another attempt.
define   film: render    poll-timeout=60s timeout-policy=RETRY retries=1 retry-delay=10s
start    trailer = film
advance  59s
show     trailer
> RUNNING    film
>   SCHEDULED  render  attempt 0
advance  1s
show     trailer
> RUNNING    film
>   TIMED_OUT  render  attempt 0  because Task poll timed out after 60 seconds. Poll timeout configured as 60 seconds. Timeout policy configured to RETRY
>   SCHEDULED  render  attempt 1
# The minute of the second attempt begins when it can be taken.
advance  69s
claim    render by ann
advance  5m
report   render by ann COMPLETED
show     trailer
> COMPLETED  film
>   TIMED_OUT  render  attempt 0
>   COMPLETED  render  attempt 1
