# A person answers for a step that no worker holds; once answered there is nothing pending.
define   leave: ask -> approve -> book
start    summer = leave
name     summer ask COMPLETED {"days": 10}
name     summer approve COMPLETED {"by": "boss"}
name     summer approve COMPLETED {"by": "another boss"} -> nothing
name     summer nonsense COMPLETED -> nothing
show     summer
> RUNNING  leave
>   COMPLETED  ask      attempt 0  {"days":10}
>   COMPLETED  approve  attempt 0  {"by":"boss"}
>   SCHEDULED  book     attempt 0
