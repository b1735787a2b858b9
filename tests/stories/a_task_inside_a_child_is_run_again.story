# Asked at the top, done where the task is; everything above waits for it again, and goes on from there.
define   parcel: pack -> close    retries=0
define   checkout: (parcel) -> thank    retries=0
start    order = checkout
child    parcel = order parcel
rerun    order from=pack in=parcel -> 409
claim    pack by ann
report   pack by ann COMPLETED {"box": 1}
claim    close by ann
report   close by ann COMPLETED
claim    thank by ann
report   thank by ann FAILED
rerun    order from=pack in=parcel task-input={"size": "XL"}
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@parcel"}
show     parcel
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0  from {"size": "XL"}
claim    pack by ann -> parcel
report   pack by ann COMPLETED {"box": 2}
claim    close by ann -> parcel
report   close by ann COMPLETED {"closed": true}
show     parcel
> COMPLETED  parcel  {"closed": true}
>   COMPLETED  pack   attempt 0  {"box": 2}
>   COMPLETED  close  attempt 0  {"closed": true}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "closed": true}
>   SCHEDULED  thank   attempt 0
