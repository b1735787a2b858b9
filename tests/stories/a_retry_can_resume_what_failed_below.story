# Asked to resume, the retry goes down to the task that failed; all runs above it go on with it.
define   label: print    retries=0
define   parcel: pack -> (label)    retries=0 {"label": "${label.output.label}"}
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
claim    pack by ann
report   pack by ann COMPLETED
child    label = parcel label
claim    print by ann
report   print by ann FAILED
show     order
> FAILED  checkout  {"subWorkflowId": "@parcel", "label": null}
>   FAILED  parcel  attempt 0  {"subWorkflowId": "@parcel", "label": null}
retry    order resume
show     order
> RUNNING  checkout  because nothing
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}  because nothing
show     parcel
> RUNNING  parcel
>   COMPLETED    pack   attempt 0
>   IN_PROGRESS  label  attempt 0  {"subWorkflowId": "@label"}
show     label
> RUNNING  label
>   FAILED     print  attempt 0
>   SCHEDULED  print  attempt 1
claim    print by ann -> label
report   print by ann COMPLETED {"label": 5}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "label": 5}
>   SCHEDULED  thank   attempt 0
