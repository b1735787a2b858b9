# FAIL, the default: a second start under the key is refused for ever, and told which run has it.
define   checkout: charge
define   refund: charge
start    order = checkout key=9243
start    again = checkout key=9243 -> 409 order
start    again = checkout key=9243 strategy=FAIL -> 409 order
pause    order
start    again = checkout key=9243 strategy=FAIL -> 409 order
terminate order
start    again = checkout key=9243 strategy=FAIL -> 409 order
# Another key, or the same key of another definition, is another run.
start    other = checkout key=9244
start    back = refund key=9243
show     other
> RUNNING  checkout
>   SCHEDULED  charge  attempt 0
show     back
> RUNNING  refund
>   SCHEDULED  charge  attempt 0
