# A child may be silent, but the time of its step is limited: the child is told to end, and another one begins.
define   parcel: pack
define   checkout: (parcel)    timeout=60s response-timeout=30s timeout-policy=RETRY retries=1 retry-delay=0s
start    order = checkout
child    first = order parcel
claim    pack by ann -> first
advance  60s
child    second = order parcel
show     first
> TERMINATED  parcel  because The task that began this workflow ended with status TIMED_OUT
>   CANCELED  pack  attempt 0
report   pack by ann COMPLETED -> STALE
claim    pack by bob -> second
report   pack by bob COMPLETED
show     order
> COMPLETED  checkout  {"subWorkflowId": "@second"}
>   TIMED_OUT  parcel  attempt 0  {"subWorkflowId": "@first"}
>   COMPLETED  parcel  attempt 1  {"subWorkflowId": "@second"}
