# A definition may name a schema of the registry. What is registered when a run begins is what counts for it.
schema-json [{"name": "receipt", "version": 2, "type": "JSON", "data": {"type": "object", "required": ["number"]}}]
task-json {"name": "charge", "enforceSchema": true, "outputSchema": {"name": "receipt", "version": 2}}
define-json {"name": "checkout", "tasks": [{"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"}]}
start    old = checkout
schema-json [{"name": "receipt", "version": 2, "type": "JSON", "data": {"type": "object", "required": ["id"]}}]
start    new = checkout
unschema receipt
start    none = checkout -> 404
claim    charge by ann count=2
report   charge of old by ann COMPLETED {"number": 1}
report   charge of new by ann COMPLETED {"number": 1}
show     old
> COMPLETED  checkout  {"number":1}
>   COMPLETED  charge  attempt 0  {"number":1}
show     new
> FAILED  checkout  {"number":1}
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0  {"number":1}  because the output does not fit its schema: output: "id" is a required property
schema-json [{"name": "receipt", "version": 2, "type": "JSON", "data": {"type": "object"}}]
start    none = checkout
show     none
> RUNNING  checkout
>   SCHEDULED  charge  attempt 0
