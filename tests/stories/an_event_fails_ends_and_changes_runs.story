# Actions of one handler, each on a run of its own choice.
define   long: work
define-json {"name": "patient", "tasks": [{"name": "hold", "taskReferenceName": "hold", "type": "WAIT"}]}
define-json {"name": "alarm", "tasks": [
    {"name": "ring", "taskReferenceName": "ring", "type": "EVENT", "sink": "conductor:fire", "inputParameters": {"all": "${workflow.input}"}}]}
listen   {"name": "brigade", "event": "conductor:alarm:fire", "active": true, "actions": [
    {"action": "fail_task", "fail_task": {"workflowId": "${all.waiting}", "taskRefName": "hold", "reasonForIncompletion": "fire at ${all.where}"}},
    {"action": "terminate_workflow", "terminate_workflow": {"workflowId": "${all.working}", "terminationReason": "fire"}},
    {"action": "update_workflow_variables", "update_workflow_variables": {"workflowId": "${all.noting}", "variables": {"fires": ["${all.where}"], "last": "${all.where}"}, "appendArray": true}}]}
start    waiting = patient
start    working = long
start    noting = long
variables noting {"fires": ["cellar"], "calm": false}
start    one = alarm {"waiting": "@waiting", "working": "@working", "noting": "@noting", "where": "roof"}
show     waiting
> FAILED  patient  {"workflowId": "@waiting", "taskRefName": "hold", "reasonForIncompletion": "fire at roof", "conductor.event.messageId": "#", "conductor.event.name": "conductor:alarm:fire"} because Task # failed with status: FAILED and reason: 'fire at roof'
>   FAILED  hold  attempt 0  {"workflowId": "@waiting", "taskRefName": "hold", "reasonForIncompletion": "fire at roof", "conductor.event.messageId": "#", "conductor.event.name": "conductor:alarm:fire"} because fire at roof
show     working
> TERMINATED  long  because fire
>   CANCELED  work  attempt 0
show     noting
> RUNNING  long with {"fires": ["cellar", "roof"], "calm": false, "last": "roof"}
>   SCHEDULED  work  attempt 0
