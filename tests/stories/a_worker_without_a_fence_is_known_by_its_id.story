# Unmodified workers send no fence: while the task is leased, only its holder is heard.
define   film: render
start    trailer = film
claim    render by ann
report   render by ann IN_PROGRESS {"percent": 50} nofence
claim    render by bob
report   render by ann COMPLETED {"by": "ann"} nofence -> STALE
extend   render by ann nofence -> STALE
report   render by bob COMPLETED {"by": "bob"} nofence -> APPLIED
report   render by bob COMPLETED {"by": "bob"} nofence -> REPEATED
report   render by bob COMPLETED {"by": "rob"} nofence -> STALE
show     trailer
> COMPLETED  film  {"by":"bob"}
>   COMPLETED  render  attempt 0  by bob  {"by":"bob"}
