# Whoever terminates a run decides whether its failure workflow runs. Of a child that ends with its parent it does not.
define   refund: pay_back
define   checkout: charge    workflow-failure=refund
define   shop: (checkout)    workflow-failure=refund
start    quiet = checkout
terminate quiet reason="fraud suspected"
start    loud = checkout
terminate loud compensate reason="fraud proven"
failure  refund = loud
start    shop = shop
child    inner = shop checkout
terminate shop
show     quiet
> TERMINATED  checkout  because fraud suspected
>   CANCELED  charge  attempt 0
show     loud
> TERMINATED  checkout  {"conductor.failure_workflow": "@refund"}  because fraud proven
>   CANCELED  charge  attempt 0
show     inner
> TERMINATED  checkout
>   CANCELED  charge  attempt 0
claim    pay_back by ann count=5 -> refund
