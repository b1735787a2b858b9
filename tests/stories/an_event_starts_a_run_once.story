# What is published is heard once, whatever breaks; the run knows what led to it. Tried again, the step
# publishes again.
define   parcel: pack retries=0
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"},
    {"name": "tell", "taskReferenceName": "tell", "type": "EVENT", "sink": "conductor:paid", "inputParameters": {"order": {"id": "${workflow.input.id}", "cents": "${charge.output.cents}"}}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
listen   {"name": "ship-it", "event": "conductor:checkout:paid", "active": true, "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel", "correlationId": "order ${order.id}", "input": {"id": "${order.id}", "cents": "${$.order.cents}", "from": "${workflowInstanceId}"}}}]}
start    order = checkout {"id": 7}
claim    charge by ann
report   charge by ann COMPLETED {"cents": 100}
handled  box = order tell by=ship-it
show     box
> RUNNING  parcel  from {"id": 7, "cents": 100, "from": "@order", "conductor.event.messageId": "#", "conductor.event.name": "conductor:checkout:paid"}
>   SCHEDULED  pack  attempt 0
claim    pack by bob count=2 -> box
report   pack by bob COMPLETED
terminate order
rerun    order from=tell
handled  second = order tell by=ship-it
claim    pack by bob count=2 -> second
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0  {"cents": 100}
>   COMPLETED  tell    attempt 0  {"order": {"id": 7, "cents": 100}, "workflowInstanceId": "@order", "workflowType": "checkout", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:checkout:paid"}
>   SCHEDULED  ship    attempt 0
