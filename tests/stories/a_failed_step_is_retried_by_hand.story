# The attempts allowed are used up; a person tries once more, and that attempt gets no retries of its own.
define   checkout: charge -> ship    retries=1 retry-delay=0s
start    order = checkout
claim    charge by ann
report   charge by ann FAILED reason="card declined"
claim    charge by ann
report   charge by ann FAILED reason="card declined"
show     order
> FAILED  checkout  because Task # failed with status: FAILED and reason: 'card declined'
>   FAILED  charge  attempt 0
>   FAILED  charge  attempt 1
retry    order
show     order
> RUNNING  checkout  because nothing
>   FAILED     charge  attempt 0
>   FAILED     charge  attempt 1
>   SCHEDULED  charge  attempt 2  because nothing
claim    charge by bob
report   charge by bob FAILED reason="card stolen"
show     order
> FAILED  checkout  because Task # failed with status: FAILED and reason: 'card stolen'
>   FAILED  charge  attempt 0
>   FAILED  charge  attempt 1
>   FAILED  charge  attempt 2  by bob
retry    order
claim    charge by bob
report   charge by bob COMPLETED
show     order
> RUNNING  checkout
>   FAILED     charge  attempt 0
>   FAILED     charge  attempt 1
>   FAILED     charge  attempt 2
>   COMPLETED  charge  attempt 3
>   SCHEDULED  ship    attempt 0
