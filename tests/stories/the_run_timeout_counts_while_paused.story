# Pausing stops the clocks of tasks, not that of the run; resuming gives it a full allowance again.
define   film: render    workflow-timeout=60s workflow-policy=TIME_OUT_WF
start    trailer = film
start    feature = film
pause    trailer
pause    feature
advance  59s
resume   feature
advance  1s
show     trailer
> TIMED_OUT  film
>   CANCELED  render  attempt 0
advance  58s
show     feature
> RUNNING  film
>   SCHEDULED  render  attempt 0
advance  1s
show     feature
> TIMED_OUT  film
>   CANCELED  render  attempt 0
