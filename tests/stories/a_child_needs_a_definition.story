# A parent whose child is not defined does not start. One whose child is gone by then fails there.
define   checkout: charge -> (parcel)    retries=1 retry-delay=0s
start    order = checkout -> 404
define   parcel: pack
start    order = checkout
undefine parcel
claim    charge by ann
report   charge by ann COMPLETED
show     order
> FAILED  checkout  because Task # failed with status: FAILED and reason: 'No such workflow defined. name=parcel, version=1'
>   COMPLETED  charge  attempt 0
>   FAILED     parcel  attempt 0  because No such workflow defined. name=parcel, version=1
>   FAILED     parcel  attempt 1
define   parcel: pack
retry    order
child    parcel = order parcel
show     parcel
> RUNNING  parcel
>   SCHEDULED  pack  attempt 0
