# A run keeps the definitions it was started with; a changed one is for the next run.
define   call: dial      retries=0
start    before = call
task-json {"name": "dial", "retryCount": 1, "retryDelaySeconds": 0}
start    after = call
claim    dial by ann count=2
report   dial of before by ann FAILED
report   dial of after by ann FAILED
show     before
> FAILED  call
>   FAILED  dial  attempt 0
show     after
> RUNNING  call
>   FAILED     dial  attempt 0
>   SCHEDULED  dial  attempt 1
