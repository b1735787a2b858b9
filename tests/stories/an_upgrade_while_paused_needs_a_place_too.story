# A step that ended while the run is paused has its consequences still to come: the new definition must know it.
define   report: gather -> send
define   report: collect -> send    workflow-version=2
define   report: gather -> render -> send    workflow-version=3
start    march = report version=1
pause    march
claim    gather by ann
report   gather by ann COMPLETED
upgrade  march version=2 -> 409 "has no such step"
upgrade  march version=3
resume   march
show     march
> RUNNING  report version 3
>   COMPLETED  gather  attempt 0
>   SCHEDULED  render  attempt 0
