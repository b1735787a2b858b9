# ALERT_ONLY lets the attempt go on after the total time, but a failure then is the last one.
define   call: dial      retries=10 retry-delay=0s total-timeout=100s timeout-policy=ALERT_ONLY
start    grandma = call
claim    dial by ann
advance  101s
report   dial by ann FAILED reason="busy"
show     grandma
> FAILED  call  because Task #/dial exceeded total timeout of 100 seconds (elapsed 101 seconds across all attempts). No further retries will be attempted.
>   FAILED  dial  attempt 0  because busy
