# HUMAN, and WAIT without a time, are over when somebody says so; the first word stands.
define-json {"name": "hire", "tasks": [
    {"name": "interview", "taskReferenceName": "interview", "type": "HUMAN"},
    {"name": "think", "taskReferenceName": "think", "type": "WAIT"},
    {"name": "write", "taskReferenceName": "write", "type": "SIMPLE"}]}
start    bob = hire
name     bob interview COMPLETED {"good": true}
name     bob interview COMPLETED {"good": false} -> 409 DECISION_CONFLICT
advance  1000h
name     bob think COMPLETED {"decided": "yes"}
show     bob
> RUNNING  hire
>   COMPLETED  interview  attempt 0  {"good":true}
>   COMPLETED  think      attempt 0  {"decided":"yes"}
>   SCHEDULED  write      attempt 0
