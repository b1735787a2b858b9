# It is tried as often as allowed, then the run goes on without it.
define   trip: hotel? -> flight    retries=1 retry-delay=0s
start    rome = trip
claim    hotel by ann
report   hotel by ann FAILED reason="full"
claim    hotel by ann
report   hotel by ann FAILED {"tried": 2} reason="still full"
report   hotel by ann FAILED {"tried": 2} reason="still full" -> REPEATED
claim    flight by bob
report   flight by bob COMPLETED
show     rome
> COMPLETED  trip
>   FAILED                 hotel   attempt 0  because full
>   COMPLETED_WITH_ERRORS  hotel   attempt 1  {"tried":2}  because still full
>   COMPLETED              flight  attempt 0
