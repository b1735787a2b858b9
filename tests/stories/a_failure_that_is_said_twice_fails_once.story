# A person whose answer got lost says once more that a step has failed: the next attempt is left alone.
define   leave: approve    retries=2 retry-delay=0s
start    summer = leave
name     summer approve FAILED {"by": "boss"}
name     summer approve FAILED {"by": "boss"} -> REPEATED
show     summer
> RUNNING  leave
>   FAILED     approve  attempt 0  {"by": "boss"}
>   SCHEDULED  approve  attempt 1
name     summer approve FAILED {"by": "another boss"}
show     summer
> RUNNING  leave
>   FAILED     approve  attempt 0  {"by": "boss"}
>   FAILED     approve  attempt 1  {"by": "another boss"}
>   SCHEDULED  approve  attempt 2
verify   summer
