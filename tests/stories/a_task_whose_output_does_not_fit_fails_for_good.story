# The report is taken and answered like any other; the task has failed for good, and the next step never sees it.
task-json {"name": "charge", "retryCount": 3, "retryDelaySeconds": 0, "enforceSchema": true,
    "outputSchema": {"type": "JSON", "data": {"type": "object", "required": ["receipt"],
        "properties": {"receipt": {"type": "string"}, "lines": {"items": {"required": ["sku"]}}}}}}
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout
claim    charge by ann
report   charge by ann IN_PROGRESS {"so": "far"} callback=0s
claim    charge by ann
report   charge by ann FAILED {"no": "receipt"}
claim    charge by ann
report   charge by ann COMPLETED {"receipt": 5, "lines": [{"sku": "a"}, {}]}
show     order
> FAILED  checkout  {"receipt":5,"lines":[{"sku":"a"},{}]}
>   FAILED                      charge  attempt 0  {"no":"receipt"}
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 1  {"receipt":5,"lines":[{"sku":"a"},{}]}  because the output does not fit its schema: output.lines[1]: "sku" is a required property; output.receipt: value is not of type "string"
start    good = checkout
claim    charge by ann
report   charge by ann COMPLETED {"receipt": "r1"}
show     good
> RUNNING  checkout
>   COMPLETED  charge  attempt 0  {"receipt":"r1"}
>   SCHEDULED  ship    attempt 0
