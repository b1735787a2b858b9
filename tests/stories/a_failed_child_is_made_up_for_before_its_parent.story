# Each run that fails has its own failure workflow.
define   refund: pay_back
define   sorry: write
define   parcel: pack    retries=0 workflow-failure=refund
define   checkout: (parcel)    workflow-failure=sorry
start    order = checkout
child    parcel = order parcel
claim    pack by ann
report   pack by ann FAILED
failure  refund = parcel
failure  sorry = order
show     parcel
> FAILED  parcel  {"conductor.failure_workflow": "@refund"}
>   FAILED  pack  attempt 0
show     refund
> RUNNING  refund
>   SCHEDULED  pay_back  attempt 0
show     sorry
> RUNNING  sorry
>   SCHEDULED  write  attempt 0
