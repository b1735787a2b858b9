# The same child under the same step, begun again.
define   label: print    retries=0
define   parcel: (label)    retries=0 {"label": "${label.output.label}"}
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
child    label = parcel label
claim    print by ann
report   print by ann FAILED
restart  label
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
show     parcel
> RUNNING  parcel
>   IN_PROGRESS  label  attempt 0  {"subWorkflowId": "@label"}
claim    print by bob -> label
report   print by bob COMPLETED {"label": 5}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "label": 5}
>   SCHEDULED  thank   attempt 0
