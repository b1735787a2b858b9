# The rest is still done; only then is the run called failed.
# It is E3 in docs/reference/rules/traces.md.
define   audit: check! -> sign    retries=0
start    march = audit
claim    check by ann
report   check by ann FAILED reason="a receipt is missing"
claim    sign by bob
report   sign by bob COMPLETED {"signed": true}
show     march
> FAILED  audit  {"signed":true}  because Task # failed with status: FAILED and reason: 'a receipt is missing'
>   FAILED     check  attempt 0
>   COMPLETED  sign   attempt 0  {"signed":true}
