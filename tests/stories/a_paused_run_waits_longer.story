# What would end a wait is not looked at while the run is paused; after the resume it is over at once.
define-json {"name": "nap", "tasks": [
    {"name": "sleep", "taskReferenceName": "sleep", "type": "WAIT", "inputParameters": {"duration": "10s"}}]}
start    noon = nap
pause    noon
advance  60s
show     noon
> PAUSED  nap
>   IN_PROGRESS  sleep  attempt 0
resume   noon
advance  1s
show     noon
> COMPLETED  nap
>   COMPLETED  sleep  attempt 0
