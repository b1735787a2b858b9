# However often it is tried: 100 seconds after the step was first scheduled it is over.
define   call: dial      retries=10 retry-delay=40s total-timeout=100s
start    grandma = call
claim    dial by ann
report   dial by ann FAILED reason="busy"
advance  40s
claim    dial by ann
report   dial by ann FAILED reason="busy"
advance  59s
show     grandma
> RUNNING    call
>   FAILED     dial  attempt 0
>   FAILED     dial  attempt 1
>   SCHEDULED  dial  attempt 2
advance  1s
claim    dial by ann -> nothing
show     grandma
> TIMED_OUT  call
>   FAILED     dial  attempt 0
>   FAILED     dial  attempt 1
>   TIMED_OUT  dial  attempt 2  because Task dial/# exceeded total timeout of 100 seconds (elapsed 100 seconds across all attempts including retry delays). Timeout policy: TIME_OUT_WF
