# That is the default.
define   film: render    workflow-timeout=10m
start    trailer = film
claim    render by ann
advance  11m
report   render by ann COMPLETED -> APPLIED
show     trailer
> COMPLETED  film
>   COMPLETED  render  attempt 0
