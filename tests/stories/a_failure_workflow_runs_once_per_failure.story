# The run that failed names it in its output. It hears what failed and why, and runs again only after another failure.
define-json {"name": "refund", "tasks": [{"name": "pay_back", "taskReferenceName": "pay_back", "type": "SIMPLE", "inputParameters": {
    "cents": "${workflow.input.amount}", "run": "${workflow.input.workflowId}", "reason": "${workflow.input.reason}", "status": "${workflow.input.failureStatus}",
    "task": "${workflow.input.failureTaskId}", "tried": "${workflow.input.failedWorkflow.tasks[0].taskId}", "was": "${workflow.input.failedWorkflow.status}"}}]}
define   checkout: charge    retries=0 workflow-failure=refund
start    order = checkout {"amount": 10}
claim    charge by ann
report   charge by ann FAILED reason="card declined"
failure  first = order
show     order
> FAILED  checkout  {"conductor.failure_workflow": "@first"}
>   FAILED  charge  attempt 0
show     first
> RUNNING  refund
>   SCHEDULED  pay_back  attempt 0  from {"cents": 10, "run": "@order", "reason": "Task # failed with status: FAILED and reason: 'card declined'", "status": "FAILED", "task": "#", "tried": "#", "was": "FAILED"}
advance  1s
retry    order
claim    charge by ann
report   charge by ann FAILED reason="card stolen"
failure  second = order
show     second
> RUNNING  refund
>   SCHEDULED  pay_back  attempt 0
retry    order
claim    charge by ann
report   charge by ann COMPLETED
show     order
> COMPLETED  checkout
>   FAILED     charge  attempt 0
>   FAILED     charge  attempt 1
>   COMPLETED  charge  attempt 2
claim    pay_back by ann count=3 -> first second
