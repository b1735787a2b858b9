# A step that is not wanted is recorded as skipped, listed first, and stepped over when the run gets there.
define-json {"name": "report", "tasks": [
    {"name": "gather", "taskReferenceName": "gather", "type": "SIMPLE"},
    {"name": "render", "taskReferenceName": "render", "type": "SIMPLE"},
    {"name": "print", "taskReferenceName": "print", "type": "SIMPLE"},
    {"name": "send", "taskReferenceName": "send", "type": "SIMPLE", "inputParameters": {"page": "${render.output.page}"}}]}
start    march = report
skip     march render {"page": "last year's"} input={"rows": 0}
skip     march print
show     march
> RUNNING  report
>   SKIPPED    render  attempt 0  from {"rows": 0}  {"page": "last year's"}
>   SKIPPED    print   attempt 0
>   SCHEDULED  gather  attempt 0
claim    gather by ann
report   gather by ann COMPLETED
claim    render by ann -> nothing
claim    print by ann -> nothing
claim    send by ann
report   send by ann COMPLETED
show     march
> COMPLETED  report
>   SKIPPED    render  attempt 0  {"page": "last year's"}
>   SKIPPED    print   attempt 0
>   COMPLETED  gather  attempt 0
>   COMPLETED  send    attempt 0  from {"page": "last year's"}
