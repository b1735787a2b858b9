# The parent was restarted and has another child. The old one may be retried, but nobody waits for it.
define   parcel: pack    retries=0
define   checkout: (parcel)
start    order = checkout
child    first = order parcel
claim    pack by ann -> first
report   pack by ann FAILED
restart  order
child    second = order parcel
retry    first
terminate first
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@second"}
show     second
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
