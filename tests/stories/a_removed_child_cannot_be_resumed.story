# A retry that would resume it begins a new one instead.
define   parcel: pack    retries=0
define   checkout: (parcel)
start    order = checkout
child    first = order parcel
claim    pack by ann -> first
report   pack by ann FAILED
remove   first
retry    order resume
child    second = order parcel
show     order
> RUNNING  checkout
>   FAILED       parcel  attempt 0  {"subWorkflowId": "@first"}
>   IN_PROGRESS  parcel  attempt 1  {"subWorkflowId": "@second"}
