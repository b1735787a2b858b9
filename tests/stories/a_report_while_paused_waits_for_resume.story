# A worker finishes while the run is paused: its result counts, the next step waits.
define   checkout: charge -> ship
start    order = checkout
claim    charge by ann
pause    order
pause    order
report   charge by ann COMPLETED {"charge": "ch_1"} -> APPLIED
claim    ship by bob -> nothing
show     order
> PAUSED  checkout
>   COMPLETED  charge  attempt 0  {"charge":"ch_1"}
resume   order
claim    ship by bob
report   ship by bob COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0  {"charge":"ch_1"}
>   COMPLETED  ship    attempt 0
