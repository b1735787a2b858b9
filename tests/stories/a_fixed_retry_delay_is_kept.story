# A failed attempt is followed by another after ten seconds, twice; then the run fails.
define   call: dial      retries=2 retry-delay=10s
start    grandma = call
claim    dial by ann
report   dial by ann FAILED reason="busy"
claim    dial by ann -> nothing
advance  9s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann FAILED reason="busy"
advance  9999ms
claim    dial by ann -> nothing
advance  1ms
claim    dial by bob
report   dial by bob FAILED {"line": "dead"} reason="cut off"
show     grandma
> FAILED  call  {"line":"dead"} because Task # failed with status: FAILED and reason: 'cut off'
>   FAILED  dial  attempt 0  by ann  because busy
>   FAILED  dial  attempt 1  by ann  because busy
>   FAILED  dial  attempt 2  by bob  {"line":"dead"}  because cut off
