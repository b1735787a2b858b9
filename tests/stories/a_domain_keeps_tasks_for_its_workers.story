# One domain is used as it is, whether anybody works there or not.
define   checkout: charge -> ship    retries=1 retry-delay=0s
start    order = checkout domain=eu
start    plain = checkout domain=NO_DOMAIN
start    mixed = checkout domain=ship:eu
claim    charge by ann count=3 domain=us -> nothing
claim    charge by bob domain=eu -> order
report   charge by bob FAILED
# Another attempt stays in its domain.
claim    charge by bob domain=eu -> order
report   charge by bob COMPLETED
claim    ship by ann -> nothing
claim    ship by bob domain=eu -> order
claim    charge by ann count=2 domain=eu -> nothing
claim    charge by ann count=2
report   charge of plain by ann COMPLETED
report   charge of mixed by ann COMPLETED
claim    ship by ann -> plain
claim    ship by bob domain=eu -> mixed
show     order
> RUNNING  checkout
>   FAILED       charge  attempt 0  by bob
>   COMPLETED    charge  attempt 1  by bob
>   IN_PROGRESS  ship    attempt 0  by bob
