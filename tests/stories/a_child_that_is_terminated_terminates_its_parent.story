# Its step is cancelled and never tried again, whatever retries it has.
define   parcel: pack
define   checkout: (parcel) -> thank    retries=3 retry-delay=0s
start    order = checkout
child    parcel = order parcel
terminate parcel reason="lost"
show     order
> TERMINATED  checkout  {"subWorkflowId": "@parcel"}  because Task # failed with status: TERMINATED and reason: 'Sub workflow parcel.1/@parcel failure reason: lost'
>   CANCELED  parcel  attempt 0  {"subWorkflowId": "@parcel"}  because Sub workflow parcel.1/@parcel failure reason: lost
