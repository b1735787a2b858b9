# A definition that asks for it tells event handlers what becomes of its runs and of their tasks.
define   parcel: pack retries=0
define-json {"name": "checkout", "workflowStatusListenerEnabled": true, "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "retryCount": 0}]}
listen   {"name": "ends", "event": "conductor:checkout:_status", "active": true, "condition": "$.event == 'COMPLETED' || $.event == 'TERMINATED'", "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel", "input": {"run": "${workflowId}", "status": "${status}", "output": "${output}"}}}]}
listen   {"name": "turns", "event": "conductor:checkout:_status", "active": true, "condition": "$.event == 'RETRIED'", "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel", "input": {"event": "${event}"}}}]}
listen   {"name": "fails", "event": "conductor:checkout:_tasks", "active": true, "condition": "$.event == 'FAILED'", "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel", "input": {"step": "${referenceTaskName}", "why": "${reasonForIncompletion}"}}}]}
start    order = checkout
pause    order
resume   order
claim    charge by ann
report   charge by ann FAILED reason="no money"
claim    pack by bob count=2
retry    order
claim    pack by bob
claim    charge by ann
report   charge by ann COMPLETED {"cents": 100}
claim    pack by bob
claim    pack by bob -> nothing
show     order
> COMPLETED  checkout  {"cents": 100}
>   FAILED     charge  attempt 0  because no money
>   COMPLETED  charge  attempt 1  {"cents": 100}
