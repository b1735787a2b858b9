# FAIL_ON_RUNNING: one live run at a time; paused is live.
define   sync: copy      retries=0
start    first = sync key=nightly strategy=FAIL_ON_RUNNING
start    again = sync key=nightly strategy=FAIL_ON_RUNNING -> 409 first
pause    first
start    again = sync key=nightly strategy=FAIL_ON_RUNNING -> 409 first
resume   first
claim    copy by ann -> first
report   copy by ann COMPLETED
start    second = sync key=nightly strategy=FAIL_ON_RUNNING
start    again = sync key=nightly strategy=FAIL_ON_RUNNING -> 409 second
start    again = sync key=nightly strategy=RETURN_EXISTING -> second
claim    copy by ann -> second
report   copy by ann FAILED
start    third = sync key=nightly strategy=FAIL_ON_RUNNING
terminate third
start    fourth = sync key=nightly strategy=FAIL_ON_RUNNING
start    again = sync key=nightly strategy=FAIL -> 409 fourth
show     first
> COMPLETED  sync
>   COMPLETED  copy  attempt 0
show     second
> FAILED  sync
>   FAILED  copy  attempt 0
show     third
> TERMINATED  sync
>   CANCELED  copy  attempt 0
show     fourth
> RUNNING  sync
>   SCHEDULED  copy  attempt 0
