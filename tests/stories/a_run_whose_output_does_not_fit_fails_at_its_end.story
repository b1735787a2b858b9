# What a workflow gives must be what it says it gives; the failure workflow hears of it.
define   refund: repay
define-json {"name": "checkout", "failureWorkflow": "refund", "outputParameters": {"receipt": "${charge.output.receipt}"},
    "outputSchema": {"type": "JSON", "data": {"type": "object", "properties": {"receipt": {"type": "string"}}}},
    "tasks": [{"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"}]}
start    good = checkout
claim    charge by ann
report   charge by ann COMPLETED {"receipt": "r1"}
show     good
> COMPLETED  checkout  {"receipt":"r1"}
>   COMPLETED  charge  attempt 0  {"receipt":"r1"}
start    order = checkout
claim    charge by ann
report   charge by ann COMPLETED
failure  mend = order
show     order
> FAILED  checkout  {"receipt":null,"conductor.failure_workflow":"@mend"}  because the output does not fit its schema: output.receipt: value is not of type "string"
>   COMPLETED  charge  attempt 0
show     mend
> RUNNING  refund
>   SCHEDULED  repay  attempt 0
