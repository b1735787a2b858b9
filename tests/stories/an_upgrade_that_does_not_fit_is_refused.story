# The run keeps its definition unless the other one has a place for whatever is under way.
define   report: gather -> send
define   report: collect -> send    workflow-version=2
define   letter: gather
start    march = report version=1
upgrade  march version=2 -> 409 "has no such step"
upgrade  march version=3 -> 404 "No such workflow defined. name=report, version=3"
upgrade  march name=letter version=1 -> 400 "cannot become letter"
claim    gather by ann
report   gather by ann COMPLETED
upgrade  march version=2
show     march
> RUNNING  report version 2
>   COMPLETED  gather   attempt 0
>   SCHEDULED  send     attempt 0
>   SKIPPED    collect  attempt 0
terminate march
upgrade  march version=1 -> 409
show     march
> TERMINATED  report version 2
>   COMPLETED  gather   attempt 0
>   CANCELED   send     attempt 0
>   SKIPPED    collect  attempt 0
