# Whoever starts a run, a person or a step: its definition says under which key, with which payload, and how many at once.
define-json {"name": "parcel", "idempotency": {"keyExpression": "order-${workflow.input.id}", "strategy": "RETURN_EXISTING", "fingerprint": ["input.amount"]}, "tasks": [{"name": "pack", "taskReferenceName": "pack", "type": "SIMPLE"}]}
define-json {"name": "letter", "concurrency": {"policy": "SKIP"}, "tasks": [{"name": "write", "taskReferenceName": "write", "type": "SIMPLE"}]}
define-json {"name": "bill", "concurrency": {"policy": "FAIL"}, "tasks": [{"name": "write", "taskReferenceName": "write", "type": "SIMPLE"}]}
define-json {"name": "checkout", "tasks": [
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "${workflow.input.what}", "input": {"id": "${workflow.input.id}", "amount": "${workflow.input.amount}"}}}}]}
define-json {"name": "bundle", "tasks": [
    {"name": "inner", "taskReferenceName": "inner", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel"}, "inputParameters": {"id": "${workflow.input.id}", "amount": "${workflow.input.amount}"}}]}
start    one = checkout {"what": "parcel", "id": 7, "amount": 10}
started  first = one begin
start    two = checkout {"what": "parcel", "id": 7, "amount": 10}
started  same = two begin -> first
start    three = checkout {"what": "parcel", "id": 7, "amount": 11}
show     three
> FAILED  checkout
>   FAILED_WITH_TERMINAL_ERROR  begin  attempt 0  because run @first exists under idempotencyKey order-7 and was started with another payload
start    four = bundle {"id": 7, "amount": 10}
child    again = four inner -> first
start    five = bundle {"id": 7, "amount": 11}
show     five
> FAILED  bundle
>   FAILED_WITH_TERMINAL_ERROR  inner  attempt 0  because run @first exists under idempotencyKey order-7 and was started with another payload
start    mine = letter
start    six = checkout {"what": "letter"}
show     six
> COMPLETED  checkout  {"workflowId": "@mine", "skipped": true}
>   COMPLETED  begin  attempt 0  {"workflowId": "@mine", "skipped": true}
start    yours = bill
start    seven = checkout {"what": "bill"}
show     seven
> FAILED  checkout
>   FAILED  begin  attempt 0  because concurrency limit: 1 of workflow bill may be under way at once; in the way is @yours
