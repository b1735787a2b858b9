# RETURN_EXISTING: the same answer as the first time, whatever has become of the run.
define   checkout: charge
start    order = checkout {"amount": 10} key=9243 strategy=RETURN_EXISTING
start    again = checkout {"amount": 10} key=9243 strategy=RETURN_EXISTING -> order
pause    order
start    again = checkout {"amount": 10} key=9243 strategy=RETURN_EXISTING -> order
resume   order
claim    charge by ann
report   charge by ann COMPLETED
start    again = checkout {"amount": 10} key=9243 strategy=RETURN_EXISTING -> order
start    again = checkout {"amount": 10} key=9243 strategy=FAIL -> 409 order
show     order
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0
