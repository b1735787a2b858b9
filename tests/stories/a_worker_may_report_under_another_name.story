# Many workers poll under one name and report under another. While the task was handed out once,
# nobody else can have it, so the report counts. After a second hand-out the name decides, and a
# name that the same holder has signed with before is the holder's.
define   film: render -> cut
start    trailer = film
claim    render by vm
extend   render by vm signed=custom nofence
report   render by vm IN_PROGRESS {"percent": 50} signed=custom nofence -> APPLIED
claim    render by vm
report   render by vm COMPLETED {"by": "eve"} signed=eve nofence -> STALE
extend   render by vm signed=eve nofence -> STALE
report   render by vm COMPLETED {"by": "vm"} signed=custom nofence -> APPLIED
report   render by vm COMPLETED {"by": "vm"} signed=custom nofence -> REPEATED
claim    cut by vm
report   cut by vm COMPLETED {"by": "vm"} signed=custom nofence -> APPLIED
show     trailer
> COMPLETED  film  {"by":"vm"}
>   COMPLETED  render  attempt 0  by custom  {"by":"vm"}
>   COMPLETED  cut  attempt 0  by custom  {"by":"vm"}
