# Two of three are enough; the third still holds the run.
define-json {"name": "quorum", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}], [{"name": "c", "taskReferenceName": "c", "type": "SIMPLE"}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "b", "c"], "evaluatorType": "js", "expression": "$.joinOn.filter(function (r) { return $[r] && $[r].status == 'COMPLETED'; }).length >= 2"},
    {"name": "z", "taskReferenceName": "z", "type": "SIMPLE"}]}
start    one = quorum
claim    a by ann
report   a by ann COMPLETED {"v": 1}
show     one
> RUNNING  quorum
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"v":1}
>   SCHEDULED  b  attempt 0
>   SCHEDULED  c  attempt 0
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a","b","c"]}  {"a":{"v":1}}
claim    b by ann
report   b by ann COMPLETED {"v": 2}
show     one
> RUNNING  quorum
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"v":1}
>   COMPLETED  b  attempt 0  {"v":2}
>   SCHEDULED  c  attempt 0
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b","c"]}  {"a":{"v":1},"b":{"v":2}}
>   SCHEDULED  z  attempt 0
claim    z by ann
report   z by ann COMPLETED
show     one
> RUNNING  quorum
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"v":1}
>   COMPLETED  b  attempt 0  {"v":2}
>   SCHEDULED  c  attempt 0
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b","c"]}  {"a":{"v":1},"b":{"v":2}}
>   COMPLETED  z  attempt 0
claim    c by ann
report   c by ann COMPLETED
show     one
> COMPLETED  quorum
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"v":1}
>   COMPLETED  b  attempt 0  {"v":2}
>   COMPLETED  c  attempt 0
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b","c"]}  {"a":{"v":1},"b":{"v":2}}
>   COMPLETED  z  attempt 0
