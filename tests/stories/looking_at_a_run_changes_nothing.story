# Whoever asks for a decision gets one, and there is nothing to decide that was not decided before.
define   report: gather    response-timeout=60s retries=1 retry-delay=0s
start    march = report
claim    gather by ann
decide   march -> 200
advance  60s
decide   march -> 200
show     march
> RUNNING  report
>   TIMED_OUT  gather  attempt 0
>   SCHEDULED  gather  attempt 1
