# Told to reset callbacks, tasks that wait for a delay can be taken now.
define   report: gather -> send    retries=1 retry-delay=1h
start    march = report
claim    gather by ann
report   gather by ann IN_PROGRESS callback=1h
claim    gather by ann -> nothing
reset-callbacks march
claim    gather by ann
report   gather by ann FAILED
claim    gather by ann -> nothing
reset-callbacks march
claim    gather by bob
reset-callbacks march -> 204
report   gather by bob COMPLETED
terminate march
reset-callbacks march -> 409
show     march
> TERMINATED  report
>   FAILED     gather  attempt 0  by ann
>   COMPLETED  gather  attempt 1  by bob
>   CANCELED   send    attempt 0
