# Only what is over can be retried, and only if something of it failed.
define   checkout: charge -> ship?    retries=0
start    order = checkout
retry    order -> 404 "Workflow is still running.  status=RUNNING"
pause    order
retry    order -> 404 "Workflow is still running.  status=PAUSED"
resume   order
claim    charge by ann
report   charge by ann COMPLETED
claim    ship by ann
report   ship by ann FAILED
# An optional step that failed has not failed the run.
retry    order -> 409 "no task of it failed"
retry    order resume -> 409
show     order
> COMPLETED  checkout
>   COMPLETED              charge  attempt 0
>   COMPLETED_WITH_ERRORS  ship    attempt 0
