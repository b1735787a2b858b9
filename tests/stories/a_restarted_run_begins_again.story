# The same run and the same definition, from the first step; nothing of the first time is left.
define-json {"name": "checkout", "variables": {"mood": "fresh"}, "inputParameters": ["amount"], "tasks": [
    {"name": "mood", "taskReferenceName": "mood", "type": "SET_VARIABLE", "inputParameters": {"seen": "${workflow.variables.mood}", "extra": 1}},
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "inputParameters": {"cents": "${workflow.input.amount}"}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE"}]}
start    order = checkout {"amount": 10}
restart  order -> 409 "is RUNNING and cannot be restarted"
variables order {"mood": "tired"}
claim    charge by ann
report   charge by ann COMPLETED {"id": "ch_1"}
claim    ship by ann
terminate order reason="wrong address"
define-json {"name": "checkout", "version": 2, "tasks": [{"name": "pay", "taskReferenceName": "pay", "type": "SIMPLE"}]}
restart  order
show     order
> RUNNING  checkout version 1 with {"mood": "fresh", "seen": "fresh", "extra": 1} from {"amount": 10}  because nothing
>   COMPLETED  mood    attempt 0
>   SCHEDULED  charge  attempt 0  from {"cents": 10}
report   ship by ann COMPLETED -> 404
claim    charge by bob
report   charge by bob COMPLETED {"id": "ch_2"}
claim    ship by bob
report   ship by bob COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  mood    attempt 0
>   COMPLETED  charge  attempt 0  {"id":"ch_2"}
>   COMPLETED  ship    attempt 0
