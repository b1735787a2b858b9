# The task is not done yet: the worker lets go of it for half a minute and keeps what it has.
# It is E10 in docs/reference/rules/traces.md.
define   film: render    response-timeout=20s retries=0
start    trailer = film
claim    render by ann
report   render by ann IN_PROGRESS {"percent": 50} callback=30s
show     trailer
> RUNNING  film
>   SCHEDULED  render  attempt 0  {"percent":50}
claim    render by bob -> nothing
advance  29s
claim    render by bob -> nothing
advance  1s
claim    render by bob
show     trailer
> RUNNING  film
>   IN_PROGRESS  render  attempt 0  by bob  {"percent":50}
report   render by bob COMPLETED {"percent": 100}
show     trailer
> COMPLETED  film  {"percent":100}
>   COMPLETED  render  attempt 0  by bob  {"percent":100}
