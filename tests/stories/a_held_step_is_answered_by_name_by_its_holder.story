# The worker that holds a step may answer by name; another needs force.
define   leave: ask
start    summer = leave
claim    ask by ann
name     summer ask COMPLETED {"by": "bob"} workerid=bob -> 409
name     summer ask COMPLETED {"by": "ann"} workerid=ann
show     summer
> COMPLETED  leave  {"by":"ann"}
>   COMPLETED  ask  attempt 0  by ann  {"by":"ann"}
