# The child goes on; what it brings waits until the parent is resumed. Nor does its own pause concern the parent.
define   parcel: pack -> close
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
pause    order
claim    pack by ann
report   pack by ann COMPLETED
pause    parcel
show     order
> PAUSED  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
resume   parcel
claim    close by ann
report   close by ann COMPLETED {"box": 7}
show     order
> PAUSED  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 7}
resume   order
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 7}
>   SCHEDULED  thank   attempt 0
