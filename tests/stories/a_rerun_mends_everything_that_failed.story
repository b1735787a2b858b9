# Beginning again at a later step, whatever else had failed is done again with it.
define   audit: count! -> check -> sign    retries=0
start    march = audit
claim    count by ann
report   count by ann FAILED
claim    check by ann
report   check by ann COMPLETED
claim    sign by ann
report   sign by ann FAILED
rerun    march from=sign
show     march
> RUNNING  audit
>   SCHEDULED  count  attempt 0
>   COMPLETED  check  attempt 0
>   SCHEDULED  sign   attempt 0
claim    sign by bob
report   sign by bob COMPLETED
claim    count by bob
report   count by bob COMPLETED
show     march
> COMPLETED  audit
>   COMPLETED  count  attempt 0  by bob
>   COMPLETED  check  attempt 0  by ann
>   COMPLETED  sign   attempt 0  by bob
