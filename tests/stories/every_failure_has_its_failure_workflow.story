# A run that takes too long, a TERMINATE task that says FAILED, a permissive step that failed: each is a failure.
define   refund: pay_back
define   slow: charge    workflow-failure=refund workflow-timeout=60s workflow-policy=TIME_OUT_WF
define   lax: check!    workflow-failure=refund retries=0
define-json {"name": "stop", "failureWorkflow": "refund", "tasks": [
    {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "inputParameters": {"terminationStatus": "FAILED", "terminationReason": "no", "workflowOutput": {"seen": 0}}}]}
start    slow = slow
advance  60s
failure  one = slow
start    lax = lax
claim    check by ann
report   check by ann FAILED
failure  two = lax
start    stop = stop
failure  three = stop
show     slow
> TIMED_OUT  slow  {"conductor.failure_workflow": "@one"}
>   CANCELED  charge  attempt 0
show     lax
> FAILED  lax  {"conductor.failure_workflow": "@two"}
>   FAILED  check  attempt 0
show     stop
> FAILED  stop  {"seen": 0, "conductor.failure_workflow": "@three"}
>   COMPLETED  end  attempt 0  {"seen": 0}
