# The failure is taken at once, the decision to try again is made on resume.
define   checkout: charge    retries=1 retry-delay=0s
start    order = checkout
claim    charge by ann
pause    order
report   charge by ann FAILED reason="no answer"
claim    charge by bob -> nothing
resume   order
claim    charge by bob
report   charge by bob COMPLETED
show     order
> COMPLETED  checkout
>   FAILED     charge  attempt 0
>   COMPLETED  charge  attempt 1
