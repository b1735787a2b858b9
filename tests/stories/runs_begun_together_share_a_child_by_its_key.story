# One commit begins two runs that each ask for a child under the same key: there is one child.
define   charge: pay
define-json {"name": "side", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SUB_WORKFLOW", "subWorkflowParam": {
        "name": "charge", "idempotencyKey": "order-7", "idempotencyStrategy": "RETURN_EXISTING"}}]}
define-json {"name": "both", "tasks": [
    {"name": "one", "taskReferenceName": "one", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "side"}}},
    {"name": "two", "taskReferenceName": "two", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "side"}}}]}
start    both = both
started  one = both one
started  two = both two
child    paid = one charge
child    same = two charge -> paid
claim    pay by ann -> paid
report   pay by ann COMPLETED {"receipt": 1}
show     one
> COMPLETED  side  {"subWorkflowId": "@paid", "receipt": 1}
>   COMPLETED  charge  attempt 0  {"subWorkflowId": "@paid", "receipt": 1}
show     two
> COMPLETED  side  {"subWorkflowId": "@paid", "receipt": 1}
>   COMPLETED  charge  attempt 0  {"subWorkflowId": "@paid", "receipt": 1}
