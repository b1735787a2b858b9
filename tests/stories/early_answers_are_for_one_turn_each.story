# By the name of the step the next turn is meant, by that of the turn exactly that one. A restarted
# run is told nothing of what was said before.
define-json {"name": "chat", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopCondition": "$.loop.iteration < 3", "loopOver": [
        {"name": "say", "taskReferenceName": "say", "type": "SIMPLE"},
        {"name": "hear", "taskReferenceName": "hear", "type": "WAIT"}]}]}
start    one = chat
name     one hear__3 COMPLETED {"n": 3} -> KEPT
name     one hear COMPLETED {"n": 1} -> KEPT
name     one hear__4__1 COMPLETED -> 404
claim    say by ann
report   say by ann COMPLETED
name     one hear COMPLETED {"n": 2} -> KEPT
name     one hear__1 COMPLETED {"n": 5} -> 409 DECISION_CONFLICT
claim    say by ann
report   say by ann COMPLETED
claim    say by ann
report   say by ann COMPLETED
show     one
> COMPLETED  chat  {"n": 3}
>   COMPLETED  loop     attempt 0  {"iteration": 3, "1": {"say": {}, "hear": {"n": 1}}, "2": {"say": {}, "hear": {"n": 2}}, "3": {"say": {}, "hear": {"n": 3}}}
>   COMPLETED  say__1   attempt 0
>   COMPLETED  hear__1  attempt 0  {"n": 1}
>   COMPLETED  say__2   attempt 0
>   COMPLETED  hear__2  attempt 0  {"n": 2}
>   COMPLETED  say__3   attempt 0
>   COMPLETED  hear__3  attempt 0  {"n": 3}
restart  one
name     one hear COMPLETED {"n": 7} -> KEPT
terminate one reason="enough"
restart  one
claim    say by ann
report   say by ann COMPLETED
show     one
> RUNNING  chat
>   IN_PROGRESS  loop     attempt 0  {"iteration": 1, "1": {"say": {}, "hear": {}}}
>   COMPLETED    say__1   attempt 0
>   IN_PROGRESS  hear__1  attempt 0
