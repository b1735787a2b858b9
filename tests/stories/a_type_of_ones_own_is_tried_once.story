# Without a task definition a SIMPLE task is tried four times, a minute apart; any other type once.
define-json {"name": "plain", "tasks": [{"name": "dial", "taskReferenceName": "dial", "type": "SIMPLE"}]}
define-json {"name": "own", "tasks": [{"name": "call", "taskReferenceName": "call", "type": "RING"}]}
start    plain = plain
start    own = own
claim    RING by ann
advance  2h
report   RING by ann FAILED
show     own
> FAILED  own
>   FAILED  call  attempt 0
claim    dial by ann
advance  1h
claim    dial by ann -> nothing
advance  60s
claim    dial by ann
report   dial by ann FAILED
show     plain
> RUNNING  plain
>   TIMED_OUT  dial  attempt 0
>   FAILED     dial  attempt 1
>   SCHEDULED  dial  attempt 2
