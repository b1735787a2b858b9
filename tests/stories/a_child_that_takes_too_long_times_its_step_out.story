# The child's own time is over; so is its step, and with it the run.
define   parcel: pack    workflow-timeout=60s workflow-policy=TIME_OUT_WF
define   checkout: (parcel) -> thank
start    order = checkout
child    parcel = order parcel
advance  60s
show     parcel
> TIMED_OUT  parcel
>   CANCELED  pack  attempt 0
show     order
> TIMED_OUT  checkout  {"subWorkflowId": "@parcel"}
>   TIMED_OUT  parcel  attempt 0  {"subWorkflowId": "@parcel"}  because Sub workflow parcel.1/@parcel failure reason: Workflow timed out after 60 seconds. Timeout configured as 60 seconds. Timeout policy configured to TIME_OUT_WF
