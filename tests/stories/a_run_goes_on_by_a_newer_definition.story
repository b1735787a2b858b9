# What is running goes on; new steps before it are skipped, with the outputs given for them; later ones come.
define   report: gather -> send
start    march = report {"month": 3}
claim    gather by ann
report   gather by ann COMPLETED {"rows": 3}
define-json {"name": "report", "version": 2, "tasks": [
    {"name": "gather", "taskReferenceName": "gather", "type": "SIMPLE"},
    {"name": "render", "taskReferenceName": "render", "type": "SIMPLE"},
    {"name": "print", "taskReferenceName": "print", "type": "SIMPLE"},
    {"name": "send", "taskReferenceName": "send", "type": "SIMPLE"},
    {"name": "file", "taskReferenceName": "file", "type": "SIMPLE", "inputParameters": {"page": "${render.output.page}", "year": "${workflow.input.year}"}}]}
upgrade  march version=2 input={"year": 2026} output={"render": {"page": "none"}}
show     march
> RUNNING  report version 2 from {"month": 3, "year": 2026}
>   COMPLETED  gather  attempt 0  {"rows": 3}
>   SCHEDULED  send    attempt 0
>   SKIPPED    render  attempt 0  {"page": "none"}
>   SKIPPED    print   attempt 0
claim    send by ann
report   send by ann COMPLETED
claim    file by ann
report   file by ann COMPLETED {"at": 7}
show     march
> COMPLETED  report  {"at": 7}
>   COMPLETED  gather  attempt 0  {"rows": 3}
>   COMPLETED  send    attempt 0
>   SKIPPED    render  attempt 0  {"page": "none"}
>   SKIPPED    print   attempt 0
>   COMPLETED  file    attempt 0  from {"page": "none", "year": 2026}  {"at": 7}
