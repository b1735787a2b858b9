# Nobody tries a child again unless its step says so.
define   parcel: pack    retries=0
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
claim    pack by ann
report   pack by ann FAILED reason="no box"
show     parcel
> FAILED  parcel  because Task # failed with status: FAILED and reason: 'no box'
>   FAILED  pack  attempt 0
show     order
> FAILED  checkout  {"subWorkflowId": "@parcel"}  because Task # failed with status: FAILED and reason: 'Sub workflow parcel.1/@parcel failure reason: Task # failed with status: FAILED and reason: 'no box''
>   FAILED  parcel  attempt 0  {"subWorkflowId": "@parcel"}  because Sub workflow parcel.1/@parcel failure reason: Task # failed with status: FAILED and reason: 'no box'
