# A fork begins all its branches; the join waits for the last of them and gathers what they gave.
define-json {"name": "dinner", "tasks": [
    {"name": "cook", "taskReferenceName": "cook", "type": "FORK_JOIN", "forkTasks": [[{"name": "soup", "taskReferenceName": "soup", "type": "SIMPLE"}, {"name": "season", "taskReferenceName": "season", "type": "SIMPLE"}], [{"name": "salad", "taskReferenceName": "salad", "type": "SIMPLE"}]]},
    {"name": "table", "taskReferenceName": "table", "type": "JOIN", "joinOn": ["season", "salad"]},
    {"name": "eat", "taskReferenceName": "eat", "type": "SIMPLE", "inputParameters": {"salt": "${season.output.salt}", "leaf": "${table.output.salad.leaf}"}}]}
start    friday = dinner
show     friday
> RUNNING  dinner
>   COMPLETED  cook  attempt 0
>   SCHEDULED  soup  attempt 0
>   SCHEDULED  salad  attempt 0
>   IN_PROGRESS  table  attempt 0  from {"joinOn":["season","salad"]}
claim    salad by ann
report   salad by ann COMPLETED {"leaf": "green"}
claim    soup by bob
report   soup by bob COMPLETED
show     friday
> RUNNING  dinner
>   COMPLETED  cook  attempt 0
>   COMPLETED  soup  attempt 0
>   COMPLETED  salad  attempt 0  {"leaf":"green"}
>   IN_PROGRESS  table  attempt 0  from {"joinOn":["season","salad"]}  {"salad":{"leaf":"green"}}
>   SCHEDULED  season  attempt 0
claim    season by bob
report   season by bob COMPLETED {"salt": 1}
report   season by bob COMPLETED {"salt": 1} -> REPEATED
show     friday
> RUNNING  dinner
>   COMPLETED  cook  attempt 0
>   COMPLETED  soup  attempt 0
>   COMPLETED  salad  attempt 0  {"leaf":"green"}
>   COMPLETED  table  attempt 0  from {"joinOn":["season","salad"]}  {"season":{"salt":1},"salad":{"leaf":"green"}}
>   COMPLETED  season  attempt 0  {"salt":1}
>   SCHEDULED  eat  attempt 0  from {"salt":1,"leaf":"green"}
claim    eat by ann
report   eat by ann COMPLETED
show     friday
> COMPLETED  dinner
>   COMPLETED  cook  attempt 0
>   COMPLETED  soup  attempt 0
>   COMPLETED  salad  attempt 0  {"leaf":"green"}
>   COMPLETED  table  attempt 0  from {"joinOn":["season","salad"]}  {"season":{"salt":1},"salad":{"leaf":"green"}}
>   COMPLETED  season  attempt 0  {"salt":1}
>   COMPLETED  eat  attempt 0  from {"salt":1,"leaf":"green"}
