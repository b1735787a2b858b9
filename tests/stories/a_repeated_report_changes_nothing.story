# The first report stands: its repeat is recognised, anything else is too late.
define   checkout: charge -> ship
start    order = checkout
claim    charge by ann
report   charge by ann COMPLETED {"charge": "ch_1"} -> APPLIED
advance  10s
report   charge by ann COMPLETED {"charge": "ch_1"} -> REPEATED
report   charge by ann COMPLETED {"charge": "ch_2"} -> STALE
report   charge by ann FAILED {"charge": "ch_1"} -> STALE
report   charge by ann COMPLETED {"charge": "ch_1"} strict -> REPEATED
report   charge by ann COMPLETED {"charge": "ch_2"} strict -> 409
show     order
> RUNNING  checkout
>   COMPLETED  charge  attempt 0  {"charge":"ch_1"}
>   SCHEDULED  ship    attempt 0
