# Restarted, it would end in the same moment; a newer run under its key is in the way all the same.
define-json {"name": "beat", "version": 1, "tasks": [{"name": "n", "taskReferenceName": "n", "type": "NOOP"}]}
define-json {"name": "beat", "version": 2, "tasks": [{"name": "w", "taskReferenceName": "w", "type": "WAIT"}]}
start    first = beat key=k strategy=RETURN_EXISTING version=1
start    second = beat key=k strategy=FAIL_ON_RUNNING version=2
restart  first -> 409
name     second w COMPLETED
show     second
> COMPLETED  beat  version 2
>   COMPLETED  w  attempt 0
