# A step that no worker does is in no domain; the next one is.
# It is E6 in docs/reference/rules/traces.md.
define-json {"name": "checkout", "tasks": [
    {"name": "approve", "taskReferenceName": "approve", "type": "HUMAN"},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout domain=x
name     order approve COMPLETED
claim    ship by ann -> nothing
claim    ship by bob domain=x -> order
report   ship by bob COMPLETED {"sent": true}
show     order
> COMPLETED  checkout  {"sent":true}
>   COMPLETED  approve  attempt 0
>   COMPLETED  ship     attempt 0  by bob  {"sent":true}
