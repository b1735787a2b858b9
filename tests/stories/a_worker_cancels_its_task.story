# CANCELED is never tried again and ends the run TERMINATED.
define   checkout: charge -> ship    retries=3 retry-delay=0s
start    order = checkout
claim    charge by ann
report   charge by ann CANCELED reason="customer changed their mind"
show     order
> TERMINATED  checkout  because Task # failed with status: TERMINATED and reason: 'customer changed their mind'
>   CANCELED  charge  attempt 0
