# Rerun from a later step of a branch: the join waits for it again, and what came after is done again.
define-json {"name": "pair", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}, {"name": "a2", "taskReferenceName": "a2", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a2", "b"]},
    {"name": "c", "taskReferenceName": "c", "type": "SIMPLE"}]}
start    one = pair
claim    a by ann
report   a by ann COMPLETED
claim    b by ann
report   b by ann COMPLETED {"b": 1}
claim    a2 by ann
report   a2 by ann COMPLETED {"a": 1}
claim    c by ann
report   c by ann COMPLETED
rerun    one from=a2
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0
>   COMPLETED  b  attempt 0  {"b":1}
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a2","b"]}  {"b":{"b":1}}
>   SCHEDULED  a2  attempt 0
claim    a2 by ann
report   a2 by ann COMPLETED {"a": 2}
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0
>   COMPLETED  b  attempt 0  {"b":1}
>   COMPLETED  j  attempt 0  from {"joinOn":["a2","b"]}  {"a2":{"a":2},"b":{"b":1}}
>   COMPLETED  a2  attempt 0  {"a":2}
>   SCHEDULED  c  attempt 0
