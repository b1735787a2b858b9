# The run fails at once; what still ran is cancelled; a retry by hand does again what was not done.
task-json {"name": "a", "retryCount": 0}
task-json {"name": "b", "retryCount": 0}
define-json {"name": "pair", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}], [{"name": "c", "taskReferenceName": "c", "type": "SIMPLE"}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "b", "c"]},
    {"name": "z", "taskReferenceName": "z", "type": "SIMPLE"}]}
start    one = pair
claim    c by cat
report   c by cat COMPLETED {"c": 3}
claim    a by ann
claim    b by bob
report   b by bob FAILED reason="no"
show     one
> FAILED  pair  because Task # failed with status: FAILED and reason: 'no'
>   COMPLETED  f  attempt 0
>   CANCELED  a  attempt 0
>   FAILED  b  attempt 0  because no
>   COMPLETED  c  attempt 0  {"c":3}
>   CANCELED  j  attempt 0  from {"joinOn":["a","b","c"]}  {"c":{"c":3}}
report   a by ann COMPLETED -> STALE
retry    one
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   CANCELED  a  attempt 0
>   FAILED  b  attempt 0  because no
>   COMPLETED  c  attempt 0  {"c":3}
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a","b","c"]}  {"c":{"c":3}}
>   SCHEDULED  a  attempt 1
>   SCHEDULED  b  attempt 1
claim    a by ann
report   a by ann COMPLETED {"a": 1}
claim    b by bob
report   b by bob COMPLETED {"b": 2}
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   CANCELED  a  attempt 0
>   FAILED  b  attempt 0  because no
>   COMPLETED  c  attempt 0  {"c":3}
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b","c"]}  {"a":{"a":1},"b":{"b":2},"c":{"c":3}}
>   COMPLETED  a  attempt 1  {"a":1}
>   COMPLETED  b  attempt 1  {"b":2}
>   SCHEDULED  z  attempt 0
