# RETURN_RUNNING: whoever comes while a run is live gets it, paused or not; later a new one begins.
define   sync: copy
start    first = sync key=nightly strategy=RETURN_RUNNING
start    again = sync key=nightly strategy=RETURN_RUNNING -> first
pause    first
start    again = sync key=nightly strategy=RETURN_RUNNING -> first
resume   first
claim    copy by ann -> first
report   copy by ann COMPLETED
start    second = sync key=nightly strategy=RETURN_RUNNING
start    again = sync key=nightly strategy=RETURN_EXISTING -> second
show     first
> COMPLETED  sync
>   COMPLETED  copy  attempt 0
