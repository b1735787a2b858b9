# Neither a retry nor a rerun nor a restart of the step starts it again.
define   newsletter: write
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"},
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "newsletter"}}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout
claim    charge by ann
report   charge by ann COMPLETED
started  letter = order begin
terminate order
rerun    order from=begin
started  again = order begin -> letter
terminate order
rerun    order from=charge
claim    charge by ann
report   charge by ann COMPLETED
started  again = order begin -> letter
terminate order
restart  order
claim    charge by ann
report   charge by ann COMPLETED
started  again = order begin -> letter
claim    write by ann count=2 -> letter
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0
>   COMPLETED  begin   attempt 0  {"workflowId": "@letter"}
>   SCHEDULED  ship    attempt 0
