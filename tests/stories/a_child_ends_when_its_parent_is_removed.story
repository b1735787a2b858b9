# Nobody is left who could use what it does.
define   parcel: pack
define   checkout: (parcel)
start    order = checkout
child    parcel = order parcel
pause    parcel
remove   order running
show     order
> removed
show     parcel
> TERMINATED  parcel  because Parent workflow has been terminated with reason: The workflow was removed
>   CANCELED  pack  attempt 0
retry    parcel
show     parcel
> RUNNING  parcel
>   CANCELED   pack  attempt 0
>   SCHEDULED  pack  attempt 1
