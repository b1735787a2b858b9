# Two steps with one retry each: the first needs it, the second may not have it.
# It is E1 in docs/reference/rules/traces.md.
define   pair: a -> b    retries=1 retry-delay=0s
start    one = pair
show     one
> RUNNING  pair
>   SCHEDULED  a  attempt 0
claim    a by ann
show     one
> RUNNING  pair
>   IN_PROGRESS  a  attempt 0  by ann
report   a by ann FAILED reason="x"
show     one
> RUNNING  pair
>   FAILED     a  attempt 0  because x
>   SCHEDULED  a  attempt 1  because x
claim    a by bob
report   a by bob COMPLETED {"v": 1}
show     one
> RUNNING  pair
>   FAILED     a  attempt 0  by ann
>   COMPLETED  a  attempt 1  by bob  {"v":1}  because nothing
>   SCHEDULED  b  attempt 0
claim    b by ann
report   b by ann FAILED_WITH_TERMINAL_ERROR reason="y"
claim    b by ann -> nothing
show     one
> FAILED  pair  because Task # failed with status: FAILED and reason: 'y'
>   FAILED     a  attempt 0  because x
>   COMPLETED  a  attempt 1  {"v":1}
>   FAILED_WITH_TERMINAL_ERROR  b  attempt 0  because y
