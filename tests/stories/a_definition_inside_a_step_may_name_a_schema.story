# A definition that a step brings is held to its schema like any other, also to one of the registry.
schema-json {"name": "address", "version": 1, "type": "JSON", "data": {"type": "object", "required": ["to"],
    "additionalProperties": false, "properties": {"to": {"type": "string"}}}}
define-json {"name": "checkout", "tasks": [
    {"name": "send", "taskReferenceName": "send", "type": "SUB_WORKFLOW", "inputParameters": {"to": "${workflow.input.to}"},
        "subWorkflowParam": {"workflowDefinition": {"name": "parcel", "inputSchema": {"name": "address"},
            "tasks": [{"name": "pack", "taskReferenceName": "pack", "type": "SIMPLE"}]}}}]}
start    bad = checkout {"to": 5}
show     bad
> FAILED  checkout
>   FAILED  send  attempt 0  because the input does not fit its schema: input.to: value is not of type "string"
start    good = checkout {"to": "Ann"}
child    parcel = good send
show     parcel
> RUNNING  parcel  from {"to": "Ann", "_systemMetadata": {"dynamic": true}}
>   SCHEDULED  pack  attempt 0
# What began with the schema keeps it; what is begun without it is not.
unschema address
claim    pack by ann
report   pack by ann COMPLETED
show     good
> COMPLETED  checkout  {"subWorkflowId": "@parcel"}
>   COMPLETED  send  attempt 0  {"subWorkflowId": "@parcel"}
start    late = checkout {"to": "Bob"}
show     late
> FAILED  checkout
>   FAILED  send  attempt 0  because inputSchema: No such schema found by name: address, version: 1
