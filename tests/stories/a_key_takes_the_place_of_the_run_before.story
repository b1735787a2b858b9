# TERMINATE_EXISTING: what is live under the key ends, and the new run begins, at one moment.
define   sync: copy -> tell
start    first = sync key=nightly strategy=TERMINATE_EXISTING
start    second = sync key=nightly strategy=TERMINATE_EXISTING
show     first
> TERMINATED  sync
>   CANCELED  copy  attempt 0
claim    copy by ann -> second
report   copy by ann COMPLETED
pause    second
start    third = sync key=nightly strategy=TERMINATE_EXISTING
show     second
> TERMINATED  sync
>   COMPLETED  copy  attempt 0
>   CANCELED   tell  attempt 0
# What is over is left alone.
terminate third
start    fourth = sync key=nightly strategy=TERMINATE_EXISTING
start    again = sync key=nightly strategy=FAIL -> 409 fourth
claim    copy by ann -> fourth
show     third
> TERMINATED  sync
>   CANCELED  copy  attempt 0
restart  third -> 409
