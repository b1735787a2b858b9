# 2 s times 3: the attempts wait 6, 12 and 18 seconds.
define   call: dial      retries=3 retry-delay=2s retry-logic=LINEAR_BACKOFF backoff=3
start    grandma = call
claim    dial by ann
report   dial by ann FAILED
advance  5s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann FAILED
advance  11s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann FAILED
advance  17s
claim    dial by ann -> nothing
advance  1s
claim    dial by ann
report   dial by ann COMPLETED {"said": "hello"}
show     grandma
> COMPLETED  call  {"said":"hello"}
>   FAILED     dial  attempt 0
>   FAILED     dial  attempt 1
>   FAILED     dial  attempt 2
>   COMPLETED  dial  attempt 3  {"said":"hello"}
