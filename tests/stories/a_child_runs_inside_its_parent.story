# A step can be a run of its own; what comes out of it is the output of the step.
define-json {"name": "parcel", "tasks": [
    {"name": "pack", "taskReferenceName": "pack", "type": "SIMPLE", "inputParameters": {"what": "${workflow.input.what}"}}]}
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"},
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel"}, "inputParameters": {"what": "${workflow.input.item}"}},
    {"name": "thank", "taskReferenceName": "thank", "type": "SIMPLE", "inputParameters": {"box": "${parcel.output.box}"}}]}
start    order = checkout {"item": "lamp"}
claim    charge by ann
report   charge by ann COMPLETED
child    parcel = order parcel
show     order
> RUNNING  checkout
>   COMPLETED    charge  attempt 0
>   IN_PROGRESS  parcel  attempt 0  from {"subWorkflowName": "parcel", "subWorkflowVersion": 1, "workflowInput": {"what": "lamp"}}  {"subWorkflowId": "@parcel"}
show     parcel
> RUNNING  parcel from {"what": "lamp"}
>   SCHEDULED  pack  attempt 0  from {"what": "lamp"}
claim    pack by ann -> parcel
report   pack by ann COMPLETED {"box": 7}
show     parcel
> COMPLETED  parcel  {"box": 7}
>   COMPLETED  pack  attempt 0  {"box": 7}
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0  from {"box": 7}
