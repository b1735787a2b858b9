# An object with the status IN_PROGRESS, or SCHEDULED, lets the JOIN wait for the next end.
define-json {"name": "vote", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE"}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "b"], "evaluatorType": "js", "expression": "(function () { var over = $.joinOn.filter(function (r) { return $[r] && $[r].status == 'COMPLETED'; }).length; return {status: ['SCHEDULED', 'IN_PROGRESS', 'COMPLETED'][over]}; })()"},
    {"name": "z", "taskReferenceName": "z", "type": "SIMPLE"}]}
start    one = vote
claim    a by ann
report   a by ann COMPLETED {"v": 1}
show     one
> RUNNING  vote
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"v":1}
>   SCHEDULED  b  attempt 0
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"v":1}}
claim    b by ann
report   b by ann COMPLETED {"v": 2}
show     one
> RUNNING  vote
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"v":1}
>   COMPLETED  b  attempt 0  {"v":2}
>   COMPLETED  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"v":1},"b":{"v":2}}
>   SCHEDULED  z  attempt 0
