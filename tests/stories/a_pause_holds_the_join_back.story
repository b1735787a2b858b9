# Branches that end while the run is paused are joined after the resume.
define-json {"name": "pair", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "b"]},
    {"name": "c", "taskReferenceName": "c", "type": "SIMPLE"}]}
start    one = pair
claim    a by ann
claim    b by bob
pause    one
report   a by ann COMPLETED {"a": 1}
report   b by bob COMPLETED {"b": 2}
show     one
> PAUSED  pair
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"a":1}
>   COMPLETED  b  attempt 0  {"b":2}
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"a":1},"b":{"b":2}}
resume   one
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"a":1}
>   COMPLETED  b  attempt 0  {"b":2}
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"a":1},"b":{"b":2}}
>   SCHEDULED  c  attempt 0
