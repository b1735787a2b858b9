# Parent and grandparent wait for it again, and hear how it ends this time.
define   label: print    retries=0
define   parcel: (label) -> close    retries=0 {"closed": "${close.output.closed}"}
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
child    label = parcel label
claim    print by ann
report   print by ann FAILED
retry    label
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
claim    print by ann -> label
report   print by ann FAILED reason="no ink"
show     parcel
> FAILED  parcel  {"closed": null}
>   FAILED  label  attempt 0  {"subWorkflowId": "@label"}
show     order
> FAILED  checkout  {"subWorkflowId": "@parcel", "closed": null}
>   FAILED  parcel  attempt 0  {"subWorkflowId": "@parcel", "closed": null}
retry    label
claim    print by ann -> label
report   print by ann COMPLETED
claim    close by ann -> parcel
report   close by ann COMPLETED {"closed": true}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "closed": true}
>   SCHEDULED  thank   attempt 0
