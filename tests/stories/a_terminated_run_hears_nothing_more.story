# An operator ends the run; what its worker says afterwards is ignored, politely.
define   checkout: charge -> ship
start    order = checkout
claim    charge by ann
terminate order reason="fraud suspected"
report   charge by ann COMPLETED {"charge": "ch_1"} -> STALE
extend   charge by ann -> STALE
claim    charge by bob -> nothing
claim    ship by bob -> nothing
terminate order reason="fraud confirmed"
show     order
> TERMINATED  checkout  because fraud suspected
>   CANCELED  charge  attempt 0  by ann
