# A run that would be refused at the door is refused inside too: no child is born, and no key is taken.
define-json {"name": "parcel", "inputSchema": {"type": "JSON", "data": {"type": "object", "required": ["to"],
        "properties": {"to": {"type": "string"}}}},
    "tasks": [{"name": "pack", "taskReferenceName": "pack", "type": "SIMPLE"}]}
define-json {"name": "checkout", "tasks": [
    {"name": "tell", "taskReferenceName": "tell", "type": "START_WORKFLOW", "optional": true, "inputParameters": {
        "startWorkflow": {"name": "parcel", "input": {"to": "${workflow.input.to}"}, "idempotencyKey": "one"}}},
    {"name": "send", "taskReferenceName": "send", "type": "SUB_WORKFLOW", "inputParameters": {"to": "${workflow.input.to}"},
        "subWorkflowParam": {"name": "parcel"}}]}
start    order = checkout {"to": 5}
show     order
> FAILED  checkout
>   COMPLETED_WITH_ERRORS  tell  attempt 0  because the input does not fit its schema: input.to: value is not of type "string"
>   FAILED                 send  attempt 0  because the input does not fit its schema: input.to: value is not of type "string"
start    good = checkout {"to": "Ann"}
started  told = good tell
child    sent = good send
show     sent
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
