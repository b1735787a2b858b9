# Priority decides; among equals, who has waited longest.
define   checkout: charge
start    low = checkout priority=1
advance  1s
start    high = checkout priority=9
advance  1s
start    middle = checkout priority=5
advance  1s
start    late = checkout priority=9
claim    charge by ann -> high
claim    charge by ann count=5 -> late middle low
report   charge of low by ann COMPLETED
show     low
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0
