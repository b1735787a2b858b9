# A step that the run has jumped away from was cancelled, but a retry does not go back to it.
define   report: gather -> render -> print retries=0
start    march = report
jump     march print
claim    print by ann
report   print by ann FAILED reason="no paper"
show     march
> FAILED  report
>   CANCELED  gather  attempt 0
>   SKIPPED   render  attempt 0
>   FAILED    print   attempt 0
retry    march
show     march
> RUNNING  report
>   CANCELED   gather  attempt 0
>   SKIPPED    render  attempt 0
>   FAILED     print   attempt 0
>   SCHEDULED  print   attempt 1
claim    print by ann
report   print by ann COMPLETED
show     march
> COMPLETED  report
>   CANCELED   gather  attempt 0
>   SKIPPED    render  attempt 0
>   FAILED     print   attempt 0
>   COMPLETED  print   attempt 1
