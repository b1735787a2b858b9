# One command for both; what is completed stays.
define   checkout: charge
start    order = checkout key=9243
start    other = checkout
claim    charge by ann -> order
claim    charge by ann -> other
report   charge by ann COMPLETED
terminate-remove other -> 409
terminate-remove order reason="fraud suspected"
report   charge of order by ann COMPLETED -> 404
start    second = checkout key=9243
show     order
> removed
show     other
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0
