# The name may come from the input. Whatever is wrong with it, the run fails as it would have.
define-json {"name": "checkout", "failureWorkflow": "${workflow.input.then}", "tasks": [
    {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "inputParameters": {"terminationStatus": "FAILED"}}]}
define-json {"name": "older", "failureWorkflow": "$workflow.input.then", "tasks": [
    {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "inputParameters": {"terminationStatus": "FAILED"}}]}
define   refund: pay_back
start    good = checkout {"then": "refund"}
failure  one = good
start    old = older {"then": "refund"}
failure  two = old
start    missing = checkout {"then": "nowhere"}
start    unnamed = checkout
show     missing
> FAILED  checkout  {"conductor.failure_workflow": "The failure workflow ${workflow.input.then} was not started: No such workflow defined. name=nowhere, version=null"}
>   COMPLETED  end  attempt 0
show     unnamed
> FAILED  checkout  {"conductor.failure_workflow": "The failure workflow ${workflow.input.then} was not started: the input names no workflow there"}
>   COMPLETED  end  attempt 0
