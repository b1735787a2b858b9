# A person who jumps to a child's step gives the child its input; which child it is stays the definition's word.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "pay", "taskReferenceName": "pay", "type": "SIMPLE"},
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW",
        "inputParameters": {"to": "${workflow.input.to}"}, "subWorkflowParam": {"name": "parcel"}}]}
start    order = checkout {"to": "Elm St"}
jump     order parcel {"to": "Oak St"}
child    first = order parcel
show     first
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
claim    pack by ann -> first
report   pack by ann COMPLETED
show     order
> COMPLETED  checkout  {"subWorkflowId": "@first"}
>   CANCELED   pay     attempt 0
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@first"}
