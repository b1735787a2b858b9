# The handler speaks while the run is still busy with another step: its answer is kept.
define-json {"name": "patient", "tasks": [
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"},
    {"name": "hold", "taskReferenceName": "hold", "type": "WAIT"}]}
define-json {"name": "caller", "tasks": [
    {"name": "call", "taskReferenceName": "call", "type": "EVENT", "sink": "conductor", "inputParameters": {"whom": "${workflow.input.whom}"}}]}
listen   {"name": "early", "event": "conductor:caller:call", "active": true, "actions": [
    {"action": "complete_task", "complete_task": {"workflowId": "${whom}", "taskRefName": "hold", "output": {"n": 1}}}]}
start    waiting = patient
start    first = caller {"whom": "@waiting"}
claim    work by ann
report   work by ann COMPLETED
show     waiting
> COMPLETED  patient  {"workflowId": "@waiting", "taskRefName": "hold", "n": 1, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
>   COMPLETED  work  attempt 0
>   COMPLETED  hold  attempt 0  {"workflowId": "@waiting", "taskRefName": "hold", "n": 1, "conductor.event.messageId": "#", "conductor.event.name": "conductor:caller:call"}
