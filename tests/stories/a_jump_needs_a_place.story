# A run that is not running, or a step that does not exist, is no place to jump.
define   report: gather -> send
start    march = report
jump     march bind -> 404 "no task of reference bind"
jump     march send [1] -> 400
pause    march
jump     march send -> 409 "it is PAUSED, not RUNNING"
terminate march
jump     march send -> 409 "it is TERMINATED, not RUNNING"
show     march
> TERMINATED  report
>   CANCELED  gather  attempt 0
