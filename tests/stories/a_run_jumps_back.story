# From that step on everything is done once more; what comes before it stays done.
define   report: gather -> render -> send
start    march = report
claim    gather by ann
report   gather by ann COMPLETED {"rows": 3}
claim    render by ann
report   render by ann COMPLETED {"page": "a"}
claim    send by ann
jump     march render {"rows": 4}
report   send by ann COMPLETED -> 404
show     march
> RUNNING  report
>   COMPLETED  gather  attempt 0  {"rows": 3}
>   SCHEDULED  render  attempt 0  from {"rows": 4}
claim    render by bob
report   render by bob COMPLETED {"page": "b"}
claim    send by bob
report   send by bob COMPLETED
show     march
> COMPLETED  report
>   COMPLETED  gather  attempt 0  {"rows": 3}
>   COMPLETED  render  attempt 0  {"page": "b"}
>   COMPLETED  send    attempt 0
