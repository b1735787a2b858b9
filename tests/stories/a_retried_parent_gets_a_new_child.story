# Without a word about children, a retry of the parent begins a fresh one.
define   parcel: pack -> close    retries=0
define   checkout: (parcel)
start    order = checkout
child    first = order parcel
claim    pack by ann -> first
report   pack by ann COMPLETED
claim    close by ann -> first
report   close by ann FAILED
retry    order
child    second = order parcel
show     first
> FAILED  parcel
>   COMPLETED  pack   attempt 0
>   FAILED     close  attempt 0
show     second
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
show     order
> RUNNING  checkout
>   FAILED       parcel  attempt 0  {"subWorkflowId": "@first"}
>   IN_PROGRESS  parcel  attempt 1  {"subWorkflowId": "@second"}
# The old child belongs to an attempt that has been given up.
retry    first unless-superseded -> 409 "has been retried since"
retry    first
claim    close by ann -> first
report   close by ann COMPLETED
show     order
> RUNNING  checkout
>   FAILED       parcel  attempt 0  {"subWorkflowId": "@first"}
>   IN_PROGRESS  parcel  attempt 1  {"subWorkflowId": "@second"}
