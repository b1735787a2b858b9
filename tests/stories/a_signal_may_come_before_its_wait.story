# Each is kept in the order of arrival, for one WAIT each, however often the run fails in between.
task-json {"name": "work", "retryCount": 0}
define-json {"name": "talk", "tasks": [
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "first", "taskReferenceName": "first", "type": "WAIT"},
    {"name": "second", "taskReferenceName": "second", "type": "YIELD"},
    {"name": "third", "taskReferenceName": "third", "type": "WAIT"}]}
start    one = talk
signal   one COMPLETED {"n": 1} -> KEPT
signal   one COMPLETED {"n": 2} -> KEPT
claim    work by ann
report   work by ann FAILED reason="no"
signal   one COMPLETED {"n": 9} -> NONE
retry    one
claim    work by ann
report   work by ann COMPLETED
show     one
> RUNNING  talk
>   FAILED       work    attempt 0
>   COMPLETED    work    attempt 1
>   COMPLETED    first   attempt 0  {"n": 1}
>   COMPLETED    second  attempt 0  {"n": 2}
>   IN_PROGRESS  third   attempt 0
signal   one COMPLETED {"n": 3} -> APPLIED
signal   one COMPLETED {"n": 4} -> NONE
show     one
> COMPLETED  talk  {"n": 3}
>   FAILED     work    attempt 0
>   COMPLETED  work    attempt 1
>   COMPLETED  first   attempt 0  {"n": 1}
>   COMPLETED  second  attempt 0  {"n": 2}
>   COMPLETED  third   attempt 0  {"n": 3}
verify   one
