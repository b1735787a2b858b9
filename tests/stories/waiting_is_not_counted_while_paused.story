# A task that nobody can be expected to take does not time out; when the run goes on, it does.
define   film: render -> cut    poll-timeout=60s total-timeout=100s timeout-policy=RETRY retries=1 retry-delay=0s
start    trailer = film
start    feature = film
pause    trailer
pause    feature
advance  10m
show     trailer
> PAUSED  film
>   SCHEDULED  render  attempt 0
terminate feature reason="too dear"
show     feature
> TERMINATED  film  because too dear
>   CANCELED  render  attempt 0
resume   trailer
show     trailer
> TIMED_OUT  film
>   TIMED_OUT  render  attempt 0
