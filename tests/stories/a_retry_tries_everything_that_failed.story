# Two steps failed and were passed over. A retry begins both again, and keeps what was done well.
define   audit: count! -> check! -> sign    retries=0
start    march = audit
claim    count by ann
report   count by ann FAILED reason="pages missing"
claim    check by ann
report   check by ann FAILED reason="ink missing"
claim    sign by ann
report   sign by ann COMPLETED
show     march
> FAILED  audit  because Task # failed with status: FAILED and reason: 'pages missing'. Task # failed with status: FAILED and reason: 'ink missing'
>   FAILED     count  attempt 0
>   FAILED     check  attempt 0
>   COMPLETED  sign   attempt 0
retry    march
show     march
> RUNNING  audit
>   FAILED     count  attempt 0
>   FAILED     check  attempt 0
>   COMPLETED  sign   attempt 0
>   SCHEDULED  count  attempt 1
>   SCHEDULED  check  attempt 1
claim    check by bob
report   check by bob COMPLETED
show     march
> RUNNING  audit
>   FAILED     count  attempt 0
>   FAILED     check  attempt 0
>   COMPLETED  sign   attempt 0
>   SCHEDULED  count  attempt 1
>   COMPLETED  check  attempt 1
claim    count by bob
report   count by bob COMPLETED
show     march
> COMPLETED  audit
>   FAILED     count  attempt 0
>   FAILED     check  attempt 0
>   COMPLETED  sign   attempt 0
>   COMPLETED  count  attempt 1
>   COMPLETED  check  attempt 1
