# The failure had not yet had consequences, and now it has none.
define   parcel: pack    retries=0
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
pause    order
claim    pack by ann
report   pack by ann FAILED
show     order
> PAUSED  checkout
>   FAILED  parcel  attempt 0  {"subWorkflowId": "@parcel"}
retry    parcel
show     order
> PAUSED  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
resume   order
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
claim    pack by ann
report   pack by ann COMPLETED
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   SCHEDULED  thank   attempt 0
