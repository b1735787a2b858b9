# That step is done again under its old id, on a new input; the steps after it are done again too.
define-json {"name": "report", "tasks": [
    {"name": "gather", "taskReferenceName": "gather", "type": "SIMPLE"},
    {"name": "render", "taskReferenceName": "render", "type": "SIMPLE", "inputParameters": {"rows": "${gather.output.rows}"}},
    {"name": "send", "taskReferenceName": "send", "type": "SIMPLE", "inputParameters": {"page": "${render.output.page}"}}]}
start    march = report
claim    gather by ann
report   gather by ann COMPLETED {"rows": 3}
claim    render by ann
report   render by ann COMPLETED {"page": "a"}
claim    send by ann
report   send by ann COMPLETED
rerun    march from=render task-input={"rows": 4}
# What was said of the old attempts is said too late.
report   render by ann COMPLETED {"page": "a"} -> STALE
report   send by ann COMPLETED -> 404
show     march
> RUNNING  report
>   COMPLETED  gather  attempt 0  {"rows": 3}
>   SCHEDULED  render  attempt 0  from {"rows": 4}
claim    render by bob
report   render by bob COMPLETED {"page": "b"}
claim    send by bob
report   send by bob COMPLETED
show     march
> COMPLETED  report
>   COMPLETED  gather  attempt 0  by ann  {"rows": 3}
>   COMPLETED  render  attempt 0  by bob  from {"rows": 4}  {"page": "b"}
>   COMPLETED  send    attempt 0  by bob  from {"page": "b"}
