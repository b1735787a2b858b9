# Nobody waits for a run that is not there any more.
define   parcel: pack
define   checkout: (parcel)
start    order = checkout
child    parcel = order parcel
remove   parcel running
show     order
> FAILED  checkout  {"subWorkflowId": "@parcel"}
>   FAILED  parcel  attempt 0  {"subWorkflowId": "@parcel"}  because Sub workflow @parcel cannot be waited for: it was removed
