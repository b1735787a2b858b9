# The output of the step is the message: its input, and what it comes from.
define-json {"name": "checkout", "tasks": [
    {"name": "tell", "taskReferenceName": "tell", "type": "EVENT", "sink": "conductor", "inputParameters": {"cents": "${workflow.input.amount}"}},
    {"name": "shout", "taskReferenceName": "shout", "type": "EVENT", "sink": "conductor:${workflow.input.where}"},
    {"name": "hold", "taskReferenceName": "hold", "type": "EVENT", "sink": "conductor:done", "asyncComplete": true}]}
start    order = checkout {"amount": 10, "where": "paid"}
show     order
> RUNNING  checkout
>   COMPLETED    tell   attempt 0  {"cents": 10, "workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:tell"}
>   COMPLETED    shout  attempt 0  {"workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:paid"}
>   IN_PROGRESS  hold   attempt 0  {"workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:done"}
name     order hold COMPLETED {"heard": true}
show     order
> COMPLETED  checkout  {"workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:done", "heard": true}
>   COMPLETED  tell   attempt 0  {"cents": 10, "workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:tell"}
>   COMPLETED  shout  attempt 0  {"workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:paid"}
>   COMPLETED  hold   attempt 0  {"workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:done", "heard": true}
