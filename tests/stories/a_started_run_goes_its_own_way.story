# START_WORKFLOW begins a run and does not wait for it; how either ends is nothing to the other.
define   newsletter: write
define-json {"name": "checkout", "tasks": [
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "newsletter", "input": {"to": "${workflow.input.who}"}}}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout {"who": "Ann"}
started  letter = order begin
show     order
> RUNNING  checkout
>   COMPLETED  begin  attempt 0  {"workflowId": "@letter"}
>   SCHEDULED  ship   attempt 0
terminate order
show     letter
> RUNNING  newsletter from {"to": "Ann"}
>   SCHEDULED  write  attempt 0
