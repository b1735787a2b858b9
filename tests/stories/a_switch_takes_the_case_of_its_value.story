# The case that is named runs; one that is empty means nothing to do; any other value takes the default.
define-json {"name": "route", "tasks": [
    {"name": "tier", "taskReferenceName": "tier", "type": "SWITCH", "evaluatorType": "value-param", "expression": "case", "inputParameters": {"case": "${workflow.input.tier}"}, "decisionCases": {"gold": [{"name": "vip", "taskReferenceName": "vip", "type": "SIMPLE"}], "none": []}, "defaultCase": [{"name": "queue", "taskReferenceName": "queue", "type": "SIMPLE"}]},
    {"name": "file", "taskReferenceName": "file", "type": "SIMPLE"}]}
start    gold = route {"tier": "gold"}
show     gold
> RUNNING  route
>   COMPLETED  tier  attempt 0  from {"case":"gold","hasChildren":"true"}  {"evaluationResult":["gold"],"selectedCase":"gold"}
>   SCHEDULED  vip  attempt 0
start    none = route {"tier": "none"}
show     none
> RUNNING  route
>   COMPLETED  tier  attempt 0  from {"case":"none"}  {"evaluationResult":["none"],"selectedCase":"none"}
>   SCHEDULED  file  attempt 0
start    other = route
show     other
> RUNNING  route
>   COMPLETED  tier  attempt 0  from {"case":"null","hasChildren":"true"}  {"evaluationResult":["null"],"selectedCase":"null"}
>   SCHEDULED  queue  attempt 0
claim    vip by ann -> gold
report   vip by ann COMPLETED
claim    queue by ann -> other
report   queue by ann COMPLETED
show     gold
> RUNNING  route
>   COMPLETED  tier  attempt 0  from {"case":"gold","hasChildren":"true"}  {"evaluationResult":["gold"],"selectedCase":"gold"}
>   COMPLETED  vip  attempt 0
>   SCHEDULED  file  attempt 0
show     other
> RUNNING  route
>   COMPLETED  tier  attempt 0  from {"case":"null","hasChildren":"true"}  {"evaluationResult":["null"],"selectedCase":"null"}
>   COMPLETED  queue  attempt 0
>   SCHEDULED  file  attempt 0
