# The id of the task that begins a run can be given to that run.
define   parcel: pack
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel"}, "inputParameters": {"by": "task ${CPEWF_TASK_ID}"}}]}
define-json {"name": "order", "tasks": [
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "parcel", "input": {"by": "task ${CPEWF_TASK_ID}"}}}}]}
start    order = checkout
start    other = order
child    inside = order parcel
started  beside = other begin
show     inside
> RUNNING  parcel from {"by": "task #"}
>   SCHEDULED  pack  attempt 0
show     beside
> RUNNING  parcel from {"by": "task #"}
>   SCHEDULED  pack  attempt 0
