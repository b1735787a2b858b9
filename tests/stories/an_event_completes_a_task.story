# Of another run, or of the one that speaks; by its name. The output is what the action says. Who is
# not there, or over, is left alone.
define-json {"name": "patient", "tasks": [
    {"name": "hold", "taskReferenceName": "hold", "type": "WAIT"},
    {"name": "go", "taskReferenceName": "go", "type": "SIMPLE"}]}
define-json {"name": "caller", "tasks": [
    {"name": "call", "taskReferenceName": "call", "type": "EVENT", "sink": "conductor", "asyncComplete": true, "inputParameters": {"whom": "${workflow.input.whom}", "n": "${workflow.input.n}"}}]}
listen   {"name": "answer", "event": "conductor:caller:call", "active": true, "actions": [
    {"action": "complete_task", "complete_task": {"workflowId": "${whom}", "taskRefName": "hold", "output": {"n": "${n}"}}},
    {"action": "complete_task", "complete_task": {"workflowId": "${workflowInstanceId}", "taskRefName": "call", "output": {"heard": true}}}]}
start    waiting = patient
start    first = caller {"whom": "@waiting", "n": 1}
show     waiting
> RUNNING  patient
>   COMPLETED  hold  attempt 0  {"workflowId": "@waiting", "taskRefName": "hold", "n": 1, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
>   SCHEDULED  go    attempt 0
show     first
> COMPLETED  caller  {"workflowId": "@first", "taskRefName": "call", "heard": true, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
>   COMPLETED  call  attempt 0  {"workflowId": "@first", "taskRefName": "call", "heard": true, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
start    late = caller {"whom": "@waiting", "n": 2}
start    lost = caller {"whom": "00000000-0000-7000-8000-000000000000", "n": 3}
start    mute = caller {"n": 4}
show     waiting
> RUNNING  patient
>   COMPLETED  hold  attempt 0  {"workflowId": "@waiting", "taskRefName": "hold", "n": 1, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
>   SCHEDULED  go    attempt 0
show     lost
> COMPLETED  caller  {"workflowId": "@lost", "taskRefName": "call", "heard": true, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
>   COMPLETED  call  attempt 0  {"workflowId": "@lost", "taskRefName": "call", "heard": true, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
