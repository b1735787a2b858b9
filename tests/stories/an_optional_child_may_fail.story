# The run goes on, however its optional child ends; and it goes on without it when that is revived later.
define   parcel: pack    retries=0
define   checkout: (parcel)? -> thank
start    order = checkout
start    other = checkout
child    parcel = order parcel
child    lost = other parcel
terminate lost reason="lost"
claim    pack by ann -> parcel
report   pack by ann FAILED
show     order
> RUNNING  checkout
>   COMPLETED_WITH_ERRORS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   SCHEDULED              thank   attempt 0
retry    parcel
claim    pack by ann -> parcel
report   pack by ann COMPLETED
show     order
> RUNNING  checkout
>   COMPLETED_WITH_ERRORS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
>   SCHEDULED              thank   attempt 0
show     other
> RUNNING  checkout
>   COMPLETED_WITH_ERRORS  parcel  attempt 0  {"subWorkflowId": "@lost"}
>   SCHEDULED              thank   attempt 0
show     parcel
> COMPLETED  parcel
>   FAILED     pack  attempt 0
>   COMPLETED  pack  attempt 1
