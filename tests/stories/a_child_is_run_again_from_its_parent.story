# Run again from the step, the same task gets a fresh child; the old one stays as it was.
define   parcel: pack    retries=0
define   checkout: (parcel) -> thank    retries=0
start    order = checkout
child    first = order parcel
claim    pack by ann -> first
report   pack by ann COMPLETED {"box": 1}
claim    thank by ann
report   thank by ann FAILED
rerun    order from=parcel
child    second = order parcel
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@second"}
show     first
> COMPLETED  parcel  {"box": 1}
>   COMPLETED  pack  attempt 0  {"box": 1}
claim    pack by ann -> second
report   pack by ann COMPLETED {"box": 2}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@second", "box": 2}
>   SCHEDULED  thank   attempt 0
