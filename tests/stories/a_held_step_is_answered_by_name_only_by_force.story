# A worker holds the step and hangs: a person may end its lease, but must say so.
define   leave: ask
start    summer = leave
claim    ask by ann
name     summer ask COMPLETED {"by": "boss"} -> 409
name     summer ask COMPLETED {"by": "boss"} force
report   ask by ann COMPLETED {"by": "ann"} -> STALE
show     summer
> COMPLETED  leave  {"by":"boss"}
>   COMPLETED  ask  attempt 0  {"by":"boss"}
