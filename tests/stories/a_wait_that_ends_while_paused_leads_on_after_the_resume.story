# The time of a WAIT may be over while the run is paused; what follows begins at the resume.
# It is E5 in docs/reference/rules/traces.md.
define-json {"name": "nap", "tasks": [
    {"name": "doze", "taskReferenceName": "doze", "type": "WAIT", "inputParameters": {"duration": "2 seconds"}},
    {"name": "rise", "taskReferenceName": "rise", "type": "SIMPLE"}]}
start    one = nap
pause    one
advance  2s
claim    rise by ann -> nothing
show     one
> PAUSED  nap
>   IN_PROGRESS  doze  attempt 0
resume   one
show     one
> RUNNING  nap
>   COMPLETED  doze  attempt 0
>   SCHEDULED  rise  attempt 0
claim    rise by ann
report   rise by ann COMPLETED {"awake": true}
show     one
> COMPLETED  nap  {"awake":true}
>   COMPLETED  doze  attempt 0
>   COMPLETED  rise  attempt 0  {"awake":true}
