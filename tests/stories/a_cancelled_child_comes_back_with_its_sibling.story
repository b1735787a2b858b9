# One child fails at the end of a run that had another under way beside it; both go on when one is retried.
define   parcel: pack    retries=0
define   letter: write    retries=0
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "permissive": true, "subWorkflowParam": {"name": "parcel"}},
    {"name": "letter", "taskReferenceName": "letter", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "letter"}},
    {"name": "thank", "taskReferenceName": "thank", "type": "SIMPLE"}]}
start    order = checkout
child    parcel = order parcel
claim    pack by ann
report   pack by ann FAILED
child    letter = order letter
terminate order reason="not now"
show     letter
> TERMINATED  letter  because Parent workflow has been terminated with reason: not now
>   CANCELED  write  attempt 0
retry    parcel
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   IN_PROGRESS  letter  attempt 0  {"subWorkflowId": "@letter"}
show     letter
> RUNNING  letter
>   CANCELED   write  attempt 0
>   SCHEDULED  write  attempt 1
claim    write by ann -> letter
report   write by ann COMPLETED
claim    pack by ann -> parcel
report   pack by ann COMPLETED
claim    thank by ann -> order
report   thank by ann COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   COMPLETED  letter  attempt 0  {"subWorkflowId": "@letter"}
>   COMPLETED  thank   attempt 0
