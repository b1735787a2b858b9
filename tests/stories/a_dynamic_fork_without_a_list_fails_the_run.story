# What cannot be forked is told. As in Conductor the fork never becomes a task.
define-json {"name": "plan", "tasks": [
    {"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC", "dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs", "inputParameters": {"steps": "${workflow.input.steps}", "inputs": {}}},
    {"name": "gather", "taskReferenceName": "gather", "type": "JOIN"}]}
start    one = plan
show     one
> FAILED  plan  because Input 'steps' is invalid. Cannot deserialize a list of Workflow Tasks from 'null'
start    two = plan {"steps": [{"name": "pack", "type": "SIMPLE"}]}
show     two
> FAILED  plan  because Input 'steps' is invalid. Cannot deserialize a list of Workflow Tasks from '[{"name":"pack","type":"SIMPLE"}]'
# A worker's task needs a name: it is its queue.
start    three = plan {"steps": [{"taskReferenceName": "pack", "type": "SIMPLE"}]}
show     three
> FAILED  plan  because Invalid task. Task null does not have a definition, taskReferenceName: pack
