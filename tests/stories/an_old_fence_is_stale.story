# Ann gives the task back for a moment, Bob gets it; from then on only Bob's fence counts.
define   film: render
start    trailer = film
claim    render by ann
report   render by ann IN_PROGRESS {"percent": 50}
claim    render by bob
report   render by ann COMPLETED {"by": "ann"} -> STALE
report   render by ann IN_PROGRESS {"percent": 60} -> STALE
report   render by ann FAILED strict -> 409
extend   render by ann -> STALE
report   render by bob COMPLETED {"by": "bob"} -> APPLIED
show     trailer
> COMPLETED  film  {"by":"bob"}
>   COMPLETED  render  attempt 0  by bob  {"by":"bob"}
