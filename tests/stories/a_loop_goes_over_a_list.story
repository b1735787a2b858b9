# One turn for each item; an empty list means no turn at all.
define-json {"name": "each", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopOver": [{"name": "do", "taskReferenceName": "do", "type": "SIMPLE", "inputParameters": {"item": "${loop.output.loopItem}", "at": "${loop.output.loopIndex}"}}], "items": "${workflow.input.items}"}]}
start    one = each {"items": ["a", {"b": 2}]}
claim    do by ann
report   do by ann COMPLETED {"did": "a"}
claim    do by ann
report   do by ann COMPLETED {"did": "b"}
show     one
> COMPLETED  each  {"did":"b"}
>   COMPLETED  loop  attempt 0  {"iteration":2,"loopIndex":1,"loopItem":{"b":2},"1":{"do":{"did":"a"}},"2":{"do":{"did":"b"}}}
>   COMPLETED  do__1  attempt 0  from {"item":"a","at":0}  {"did":"a"}
>   COMPLETED  do__2  attempt 0  from {"item":{"b":2},"at":1}  {"did":"b"}
start    none = each {"items": []}
show     none
> COMPLETED  each  {"iteration":0}
>   COMPLETED  loop  attempt 0  {"iteration":0}
