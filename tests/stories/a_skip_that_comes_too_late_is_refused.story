# A step that has begun can no longer be skipped, one that does not exist never.
define   report: gather -> render -> send
start    march = report
skip     march gather -> 409 "too late"
skip     march bind -> 404 "no task of reference bind"
pause    march
skip     march send -> 409 "it is PAUSED, not RUNNING"
resume   march
skip     march send [1] -> 400 "taskOutput must be a JSON object"
terminate march
skip     march send -> 409 "it is TERMINATED, not RUNNING"
show     march
> TERMINATED  report
>   CANCELED  gather  attempt 0
