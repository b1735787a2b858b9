# The step's retries, after the step's delay; the child that failed stays as it is.
# It is E4 in docs/reference/rules/traces.md.
define   parcel: pack    retries=0
define   checkout: (parcel)    retries=1 retry-delay=60s
start    order = checkout
child    first = order parcel
claim    pack by ann -> first
report   pack by ann FAILED reason="no box"
show     order
> RUNNING  checkout
>   FAILED     parcel  attempt 0  {"subWorkflowId": "@first"}  because Sub workflow parcel.1/@first failure reason: Task # failed with status: FAILED and reason: 'no box'
>   SCHEDULED  parcel  attempt 1
claim    pack by ann -> nothing
advance  59s
claim    pack by ann -> nothing
advance  1s
child    second = order parcel
claim    pack by ann -> second
report   pack by ann COMPLETED {"r": 2}
show     first
> FAILED  parcel
>   FAILED  pack  attempt 0
show     order
> COMPLETED  checkout  {"subWorkflowId": "@second", "r": 2}
>   FAILED     parcel  attempt 0  {"subWorkflowId": "@first"}
>   COMPLETED  parcel  attempt 1  {"subWorkflowId": "@second", "r": 2}
