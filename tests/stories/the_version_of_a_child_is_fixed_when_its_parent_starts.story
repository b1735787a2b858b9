# What is registered later is for later parents; version 0 asks for the latest when the child begins.
define   parcel: pack
define   fixed: charge -> (parcel)
define   latest: charge -> (parcel.0)
start    early = fixed
start    open = latest
define   parcel: wrap    workflow-version=2
start    late = fixed
claim    charge by ann count=3
report   charge of early by ann COMPLETED
report   charge of open by ann COMPLETED
report   charge of late by ann COMPLETED
child    one = early parcel
child    two = open parcel
child    three = late parcel
show     one
> RUNNING  parcel version 1
>   SCHEDULED  pack  attempt 0
show     two
> RUNNING  parcel version 2
>   SCHEDULED  wrap  attempt 0
show     three
> RUNNING  parcel version 2
>   SCHEDULED  wrap  attempt 0
