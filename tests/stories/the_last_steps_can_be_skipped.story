# Nothing is left to do after a step whose successors are all skipped: the run is over.
define   report: gather -> render -> send
start    march = report
skip     march send
skip     march render
claim    gather by ann
report   gather by ann COMPLETED {"rows": 3}
show     march
> COMPLETED  report  {"rows": 3}
>   SKIPPED    send    attempt 0
>   SKIPPED    render  attempt 0
>   COMPLETED  gather  attempt 0  {"rows": 3}
