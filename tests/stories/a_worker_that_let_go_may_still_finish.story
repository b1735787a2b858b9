# Called back in half a minute, but done earlier: nobody else has had the task, so the result counts.
define   film: render
start    trailer = film
claim    render by ann
report   render by ann IN_PROGRESS {"percent": 90} callback=30s
advance  10s
report   render by ann COMPLETED {"percent": 100} -> APPLIED
advance  20s
claim    render by bob -> nothing
show     trailer
> COMPLETED  film  {"percent":100}
>   COMPLETED  render  attempt 0  by ann  {"percent":100}
