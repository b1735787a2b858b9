# 2, 4, and then not 8 but 7 seconds, because that is the most the definition allows.
define   call: dial      retries=3 retry-delay=2s retry-logic=EXPONENTIAL_BACKOFF retry-delay-max=7s
start    grandma = call
claim    dial by ann
report   dial by ann FAILED
advance  1s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann FAILED
advance  3s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann FAILED
advance  6s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann COMPLETED
show     grandma
> COMPLETED  call
>   FAILED     dial  attempt 0
>   FAILED     dial  attempt 1
>   FAILED     dial  attempt 2
>   COMPLETED  dial  attempt 3
