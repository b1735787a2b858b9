# It is kept with the run, and its task ends with it in the commit in which the task appears. Another
# answer is refused, the same one is known again.
define-json {"name": "leave", "tasks": [
    {"name": "ask", "taskReferenceName": "ask", "type": "SIMPLE"},
    {"name": "approve", "taskReferenceName": "approve", "type": "HUMAN"},
    {"name": "sign", "taskReferenceName": "sign", "type": "WAIT", "inputParameters": {"duration": "1h"}},
    {"name": "book", "taskReferenceName": "book", "type": "SIMPLE", "inputParameters": {"by": "${approve.output.by}"}}]}
start    summer = leave
name     summer sign COMPLETED {"pen": "blue"} -> KEPT
name     summer approve COMPLETED {"by": "boss"} -> KEPT
name     summer approve COMPLETED {"by": "boss"} -> REPEATED
name     summer approve COMPLETED {"by": "another boss"} -> 409 DECISION_CONFLICT "another answer is kept for approve: COMPLETED"
show     summer
> RUNNING  leave
>   SCHEDULED  ask  attempt 0
claim    ask by ann
report   ask by ann COMPLETED
show     summer
> RUNNING  leave
>   COMPLETED  ask      attempt 0
>   COMPLETED  approve  attempt 0  {"by": "boss"}
>   COMPLETED  sign     attempt 0  {"pen": "blue"}
>   SCHEDULED  book     attempt 0  from {"by": "boss"}
name     summer approve COMPLETED {"by": "boss"} -> REPEATED
name     summer approve FAILED -> 409 DECISION_CONFLICT
verify   summer
