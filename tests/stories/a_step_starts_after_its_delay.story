# A step may ask to wait before it is offered.
define-json {"name": "reminder", "tasks": [
    {"name": "write", "taskReferenceName": "write", "type": "SIMPLE"},
    {"name": "send", "taskReferenceName": "send", "type": "SIMPLE", "startDelay": 3600}]}
start    dentist = reminder
claim    write by ann
report   write by ann COMPLETED
claim    send by ann -> nothing
advance  3599s
claim    send by ann -> nothing
advance  1s
claim    send by ann
report   send by ann COMPLETED
show     dentist
> COMPLETED  reminder
>   COMPLETED  write  attempt 0
>   COMPLETED  send   attempt 0
