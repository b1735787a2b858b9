# Somebody says how the step ended; nobody waits for the child any more.
define   parcel: pack
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
name     order parcel COMPLETED {"box": 9}
show     order
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@parcel", "box": 9}
>   SCHEDULED  thank   attempt 0
show     parcel
> TERMINATED  parcel  because The task that began this workflow ended with status COMPLETED
>   CANCELED  pack  attempt 0
