# A worker charges the card and dies before saying so.
define   checkout: charge -> ship        response-timeout=60s retries=3 retry-delay=0s
start    order = checkout {"amount": 10} key=9243
claim    charge by ann
advance  61s
claim    charge by bob
report   charge by bob COMPLETED {"charge": "ch_1"}
report   charge by ann COMPLETED {"charge": "ch_2"} -> STALE
show     order
> RUNNING    checkout
>   TIMED_OUT  charge  attempt 0
>   COMPLETED  charge  attempt 1  {"charge":"ch_1"}
>   SCHEDULED  ship    attempt 0
