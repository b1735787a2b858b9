# One attempt that failed is not the end of its branch.
task-json {"name": "b", "retryCount": 1, "retryDelaySeconds": 0}
define-json {"name": "pair", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "b"]}]}
start    one = pair
claim    a by ann
report   a by ann COMPLETED {"a": 1}
claim    b by bob
report   b by bob FAILED reason="busy"
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"a":1}
>   FAILED  b  attempt 0  because busy
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"a":1}}
>   SCHEDULED  b  attempt 1  because busy
claim    b by bob
report   b by bob COMPLETED {"b": 2}
show     one
> COMPLETED  pair  {"b":2}
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"a":1}
>   FAILED  b  attempt 0  because busy
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"a":1},"b":{"b":2}}
>   COMPLETED  b  attempt 1  {"b":2}
