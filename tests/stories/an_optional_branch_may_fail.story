# The join ends with errors, and the run goes on.
# It is E2 in docs/reference/rules/traces.md.
task-json {"name": "b", "retryCount": 0}
define-json {"name": "pair", "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}], [{"name": "b", "taskReferenceName": "b", "type": "SIMPLE", "optional": true}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["a", "b"]},
    {"name": "c", "taskReferenceName": "c", "type": "SIMPLE"}]}
start    one = pair
claim    b by bob
report   b by bob FAILED reason="no"
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   SCHEDULED  a  attempt 0
>   COMPLETED_WITH_ERRORS  b  attempt 0  because no
>   IN_PROGRESS  j  attempt 0  from {"joinOn":["a","b"]}
claim    a by ann
report   a by ann COMPLETED {"x": 1}
show     one
> RUNNING  pair
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"x":1}
>   COMPLETED_WITH_ERRORS  b  attempt 0  because no
>   COMPLETED_WITH_ERRORS  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"x":1}}  because b/# completed with errors
>   SCHEDULED  c  attempt 0
claim    c by ann
report   c by ann COMPLETED {"done": true}
show     one
> COMPLETED  pair  {"done":true}
>   COMPLETED  f  attempt 0
>   COMPLETED  a  attempt 0  {"x":1}
>   COMPLETED_WITH_ERRORS  b  attempt 0  because no
>   COMPLETED_WITH_ERRORS  j  attempt 0  from {"joinOn":["a","b"]}  {"a":{"x":1}}  because b/# completed with errors
>   COMPLETED  c  attempt 0  {"done":true}
