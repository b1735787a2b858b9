# The worker knows that trying again cannot help.
define   checkout: charge -> ship    retries=3 retry-delay=0s
start    order = checkout
claim    charge by ann
report   charge by ann FAILED_WITH_TERMINAL_ERROR reason="card is stolen"
claim    charge by ann -> nothing
show     order
> FAILED  checkout  because Task # failed with status: FAILED and reason: 'card is stolen'
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0  because card is stolen
