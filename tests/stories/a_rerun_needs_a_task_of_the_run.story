# The task of another run is no place to begin at.
define   checkout: charge    retries=0
start    order = checkout
start    other = checkout
claim    charge by ann count=2
report   charge of order by ann FAILED
report   charge of other by ann FAILED
rerun    order from=charge in=other -> 400 "is no task of workflow"
show     order
> FAILED  checkout
>   FAILED  charge  attempt 0
