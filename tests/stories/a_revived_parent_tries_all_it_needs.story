# A child that was passed over is retried; the step that failed the run is done again too, or the run would end without it.
define   parcel: pack    retries=0
define   checkout: (parcel)! -> thank    retries=0
start    order = checkout
child    parcel = order parcel
claim    pack by ann
report   pack by ann FAILED
claim    thank by ann
report   thank by ann FAILED
retry    parcel
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   SCHEDULED    thank   attempt 1
claim    pack by ann
report   pack by ann COMPLETED
claim    thank by ann
report   thank by ann COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   COMPLETED  thank   attempt 1
