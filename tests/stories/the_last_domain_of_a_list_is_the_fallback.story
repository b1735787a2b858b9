# Nobody works in any of the domains: the task goes to the last one of the list.
define   checkout: charge
start    order = checkout domain=canary,stable
start    plain = checkout domain=charge:canary,NO_DOMAIN
# A server that dies before it has looked at who is there looks again after 5 s.
advance  5s
claim    charge by ann domain=canary -> nothing
claim    charge by bob domain=stable -> order
claim    charge by cat -> plain
report   charge by bob COMPLETED
report   charge by cat COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0  by bob
