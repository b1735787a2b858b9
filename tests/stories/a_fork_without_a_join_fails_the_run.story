# Conductor registers it, so it is registered; no branch begins, because nobody could wait for it.
define-json {"name": "plan", "tasks": [
    {"name": "draw", "taskReferenceName": "draw", "type": "NOOP"},
    {"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN", "forkTasks": [[{"name": "left", "taskReferenceName": "left"}], [{"name": "right", "taskReferenceName": "right"}]]}]}
start    one = plan
show     one
> FAILED  plan  because Fork task definition is not followed by a join task. Check the blueprint
>   COMPLETED  draw  attempt 0
# The JOIN of the outer fork does not know what a dynamic one forks into.
define-json {"name": "inner", "tasks": [
    {"name": "out", "taskReferenceName": "out", "type": "FORK_JOIN", "forkTasks": [[{"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC", "inputParameters": {"forkTaskName": "left", "forkTaskInputs": [{}]}}]]},
    {"name": "gather", "taskReferenceName": "gather", "type": "JOIN", "joinOn": ["fan"]}]}
start    two = inner
show     two
> FAILED  inner  because Dynamic join definition is not followed by a join task. Check the workflow definition.
>   COMPLETED  out  attempt 0
