# What its definition calls not restartable begins again only if it did not complete.
define   payout: transfer    workflow-restartable=false
start    good = payout
claim    transfer by ann
report   transfer by ann COMPLETED
restart  good -> 404 "not restartable"
start    bad = payout
terminate bad
restart  bad
show     good
> COMPLETED  payout
>   COMPLETED  transfer  attempt 0
show     bad
> RUNNING  payout
>   SCHEDULED  transfer  attempt 0
