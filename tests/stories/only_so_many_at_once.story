# At most two charges are in anybody's hands; whatever ends one makes room.
define   checkout: charge    limit=2 response-timeout=60s retries=1 retry-delay=0s
start    one = checkout
advance  1s
start    two = checkout
advance  1s
start    three = checkout
claim    charge by ann -> one
claim    charge by bob count=2 -> two
claim    charge by cat -> nothing
report   charge by ann COMPLETED
claim    charge by cat -> three
claim    charge by dan -> nothing
# Bob falls silent, Cat asks to be called back: two places are free again.
report   charge by cat IN_PROGRESS callback=10m
advance  60s
claim    charge by dan -> two
claim    charge by dan -> nothing
report-v2 charge by dan COMPLETED -> NEXT nothing
show     two
> COMPLETED  checkout
>   TIMED_OUT  charge  attempt 0  by bob
>   COMPLETED  charge  attempt 1  by dan
