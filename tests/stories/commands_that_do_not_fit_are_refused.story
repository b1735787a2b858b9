# What a command needs to be so is checked before anything changes.
define   checkout: charge
start    order = checkout
resume   order -> 409
claim    charge by ann
report   charge by ann COMPLETED
pause    order -> 409
resume   order -> 409
terminate order -> 409
show     order
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0
