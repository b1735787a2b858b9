# What is under way is cancelled, what lies between is skipped, and the run goes on at that step.
define   report: gather -> render -> print -> send
start    march = report
claim    gather by ann
jump     march print {"page": "by hand"}
report   gather by ann COMPLETED -> STALE
show     march
> RUNNING  report
>   CANCELED   gather  attempt 0  by ann
>   SKIPPED    render  attempt 0
>   SCHEDULED  print   attempt 0  from {"page": "by hand"}
claim    print by ann
# It is there already.
jump     march print
report   print by ann COMPLETED
claim    send by ann
report   send by ann COMPLETED
show     march
> COMPLETED  report
>   CANCELED   gather  attempt 0
>   SKIPPED    render  attempt 0
>   COMPLETED  print   attempt 0
>   COMPLETED  send    attempt 0
