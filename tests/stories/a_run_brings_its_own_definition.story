# A step may bring the whole definition of the run it begins; nobody else finds it by its name. One that
# could not be registered fails the step with what is wrong.
define-json {"name": "checkout", "tasks": [
    {"name": "wrap", "taskReferenceName": "wrap", "type": "SUB_WORKFLOW", "inputParameters": {"paper": "red"}, "subWorkflowParam": {"workflowDefinition": {
        "name": "gift", "tasks": [{"name": "fold", "taskReferenceName": "fold", "type": "SIMPLE", "inputParameters": {"paper": "${workflow.input.paper}"}}]}}},
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {
        "startWorkflow": {"name": "letter", "workflowDef": "${workflow.input.letter}"}}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout {"letter": {"name": "letter", "tasks": [{"name": "write", "taskReferenceName": "write", "type": "SIMPLE"}]}}
child    present = order wrap
show     present
> RUNNING  gift from {"paper": "red", "_systemMetadata": {"dynamic": true}}
>   SCHEDULED  fold  attempt 0  from {"paper": "red"}
claim    fold by ann
report   fold by ann COMPLETED {"folded": true}
started  letter = order begin
show     order
> RUNNING  checkout
>   COMPLETED  wrap   attempt 0  {"subWorkflowId": "@present", "folded": true}
>   COMPLETED  begin  attempt 0  {"workflowId": "@letter"}
>   SCHEDULED  ship   attempt 0
claim    write by bob -> letter
report   write by bob COMPLETED
show     letter
> COMPLETED  letter
>   COMPLETED  write  attempt 0
start    other = gift -> 404
start    second = checkout {"letter": {"name": "letter", "tasks": []}}
child    another = second wrap
claim    fold by ann
report   fold by ann COMPLETED
show     second
> FAILED  checkout
>   COMPLETED  wrap   attempt 0  {"subWorkflowId": "@another"}
>   FAILED     begin  attempt 0  because tasks: WorkflowTask list cannot be empty
