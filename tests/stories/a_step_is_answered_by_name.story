# A person answers for a step that no worker holds; once answered, another answer is refused, and so
# is one for a step that a worker does later, or that nobody knows.
define   leave: ask -> approve -> book
start    summer = leave
name     summer book COMPLETED -> 404 "only answers for WAIT, HUMAN and YIELD are kept"
name     summer ask COMPLETED {"days": 10}
name     summer approve COMPLETED {"by": "boss"}
name     summer approve COMPLETED {"by": "boss"} -> REPEATED
name     summer approve COMPLETED {"by": "another boss"} -> 409 DECISION_CONFLICT "is COMPLETED already"
name     summer nonsense COMPLETED -> 404 "has no step nonsense"
show     summer
> RUNNING  leave
>   COMPLETED  ask      attempt 0  {"days":10}
>   COMPLETED  approve  attempt 0  {"by":"boss"}
>   SCHEDULED  book     attempt 0
