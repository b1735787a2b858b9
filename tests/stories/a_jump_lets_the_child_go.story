# A child that is jumped away from ends; jumping back to its step begins another.
define   parcel: pack
define   checkout: (parcel) -> thank
start    order = checkout
child    first = order parcel
jump     order thank
show     first
> TERMINATED  parcel  because Parent workflow has jumped to another task
>   CANCELED  pack  attempt 0
jump     order parcel
child    second = order parcel
show     order
> RUNNING  checkout
>   IN_PROGRESS  parcel  attempt 0  {"subWorkflowId": "@second"}
claim    pack by ann -> second
report   pack by ann COMPLETED
claim    thank by ann
report   thank by ann COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@second"}
>   COMPLETED  thank   attempt 0
