# The parent's time is over, and with it the child's.
define   parcel: pack
define   checkout: (parcel)    workflow-timeout=60s workflow-policy=TIME_OUT_WF
start    order = checkout
child    parcel = order parcel
claim    pack by ann
advance  60s
show     order
> TIMED_OUT  checkout  {"subWorkflowId": "@parcel"}
>   CANCELED  parcel  attempt 0  {"subWorkflowId": "@parcel"}
show     parcel
> TERMINATED  parcel  because Parent workflow has been terminated with reason: Workflow timed out after 60 seconds. Timeout configured as 60 seconds. Timeout policy configured to TIME_OUT_WF
>   CANCELED  pack  attempt 0
report   pack by ann COMPLETED -> STALE
