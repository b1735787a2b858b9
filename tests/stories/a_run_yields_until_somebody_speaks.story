# YIELD is a WAIT without a time: it gives way until somebody answers, however long that takes.
define-json {"name": "talk", "tasks": [
    {"name": "listen", "taskReferenceName": "listen", "type": "YIELD", "inputParameters": {"duration": "1s", "question": "tea?"}},
    {"name": "pour", "taskReferenceName": "pour", "type": "SIMPLE", "inputParameters": {"heard": "${listen.output.said}"}}]}
start    tea = talk
advance  1000h
show     tea
> RUNNING  talk
>   IN_PROGRESS  listen  attempt 0  from {"duration": "1s", "question": "tea?"}
name     tea listen COMPLETED {"said": "please"}
name     tea listen COMPLETED {"said": "please"} -> REPEATED
name     tea listen COMPLETED {"said": "no"} -> 409 DECISION_CONFLICT
show     tea
> RUNNING  talk
>   COMPLETED  listen  attempt 0  {"said": "please"}
>   SCHEDULED  pour    attempt 0  from {"heard": "please"}
