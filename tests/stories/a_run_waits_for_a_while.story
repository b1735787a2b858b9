# A WAIT task ends by itself when its time is over, and not before.
define-json {"name": "trial", "tasks": [
    {"name": "pause", "taskReferenceName": "pause", "type": "WAIT", "inputParameters": {"duration": "2 days 1h"}},
    {"name": "remind", "taskReferenceName": "remind", "type": "SIMPLE"}]}
start    ann = trial
advance  48h
show     ann
> RUNNING  trial
>   IN_PROGRESS  pause  attempt 0
advance  61m
show     ann
> RUNNING  trial
>   COMPLETED  pause   attempt 0
>   SCHEDULED  remind  attempt 0
