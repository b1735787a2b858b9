# Whatever else runs is cancelled, and its later word is ignored.
# It is E7 in docs/reference/rules/traces.md.
define-json {"name": "race", "outputParameters": {"never": "seen"}, "tasks": [
    {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[{"name": "slow", "taskReferenceName": "slow", "type": "SIMPLE"}], [{"name": "quick", "taskReferenceName": "quick", "type": "SIMPLE"}, {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "inputParameters": {"terminationStatus": "COMPLETED", "workflowOutput": {"k": 1}}}]]},
    {"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["slow", "end"]}]}
start    one = race
claim    slow by ann
claim    quick by bob
report   quick by bob COMPLETED
show     one
> COMPLETED  race  {"k":1}  because Workflow is COMPLETED by TERMINATE task: #
>   COMPLETED  f  attempt 0
>   CANCELED  slow  attempt 0
>   COMPLETED  quick  attempt 0
>   CANCELED  j  attempt 0  from {"joinOn":["slow","end"]}  {"end":{"k":1}}
>   COMPLETED  end  attempt 0  from {"terminationStatus":"COMPLETED","workflowOutput":{"k":1}}  {"k":1}
report   slow by ann COMPLETED -> STALE
show     one
> COMPLETED  race  {"k":1}  because Workflow is COMPLETED by TERMINATE task: #
>   COMPLETED  f  attempt 0
>   CANCELED  slow  attempt 0
>   COMPLETED  quick  attempt 0
>   CANCELED  j  attempt 0  from {"joinOn":["slow","end"]}  {"end":{"k":1}}
>   COMPLETED  end  attempt 0  from {"terminationStatus":"COMPLETED","workflowOutput":{"k":1}}  {"k":1}
