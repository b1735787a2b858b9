# One live run per key: an old one is not revived under it while a newer one lives.
define   sync: copy    retries=0
start    first = sync key=nightly strategy=FAIL_ON_RUNNING
claim    copy by ann
report   copy by ann FAILED
start    second = sync key=nightly strategy=FAIL_ON_RUNNING
retry    first -> 409
restart  first -> 409
rerun    first -> 409
rerun    first from=copy -> 409
claim    copy by ann -> second
report   copy by ann COMPLETED
retry    first
start    third = sync key=nightly strategy=FAIL_ON_RUNNING -> 409 first
restart  second -> 409
show     first
> RUNNING  sync
>   FAILED     copy  attempt 0
>   SCHEDULED  copy  attempt 1
show     second
> COMPLETED  sync
>   COMPLETED  copy  attempt 0
