# A message is taken by the task that waits for it, or waits for one; posted twice under its id it is there
# once. What the run has pulled is there again when the step is done again.
define-json {"name": "desk", "tasks": [
    {"name": "first", "taskReferenceName": "first", "type": "PULL_WORKFLOW_MESSAGES"},
    {"name": "read", "taskReferenceName": "read", "type": "SIMPLE", "retryCount": 0, "inputParameters": {"letter": "${first.output.messages[0].payload}"}},
    {"name": "rest", "taskReferenceName": "rest", "type": "PULL_WORKFLOW_MESSAGES", "inputParameters": {"batchSize": 10, "blocking": false}},
    {"name": "file", "taskReferenceName": "file", "type": "SIMPLE", "inputParameters": {"ids": "${rest.output.messages[*].id}", "count": "${rest.output.count}"}}]}
start    monday = desk
show     monday
> RUNNING  desk
>   IN_PROGRESS  first  attempt 0
post     monday id=one {"from": "Ann"}
show     monday
> RUNNING  desk
>   COMPLETED  first  attempt 0  {"messages": [{"id": "one", "workflowId": "@monday", "payload": {"from": "Ann"}, "receivedAt": "2026-01-01T00:00:00Z"}], "count": 1}
>   SCHEDULED  read   attempt 0  from {"letter": {"from": "Ann"}}
post     monday id=two {"from": "Bob"}
post     monday id=three {"from": "Cid"}
post     monday id=one {"from": "Ann"}
post     monday id=two {"from": "somebody else"} -> 409
post     monday id=four [1] -> 400
pause    monday
post     monday id=five {} -> 409
resume   monday
claim    read by dora
report   read by dora COMPLETED
show     monday
> RUNNING  desk
>   COMPLETED  first  attempt 0  {"messages": [{"id": "one", "workflowId": "@monday", "payload": {"from": "Ann"}, "receivedAt": "2026-01-01T00:00:00Z"}], "count": 1}
>   COMPLETED  read   attempt 0
>   COMPLETED  rest   attempt 0  {"messages": [{"id": "two", "workflowId": "@monday", "payload": {"from": "Bob"}, "receivedAt": "2026-01-01T00:00:00Z"}, {"id": "three", "workflowId": "@monday", "payload": {"from": "Cid"}, "receivedAt": "2026-01-01T00:00:00Z"}], "count": 2}
>   SCHEDULED  file   attempt 0  from {"ids": ["two", "three"], "count": 2}
terminate monday
post     monday id=six {} -> 409
rerun    monday from=first
show     monday
> RUNNING  desk
>   COMPLETED  first  attempt 0  {"messages": [{"id": "one", "workflowId": "@monday", "payload": {"from": "Ann"}, "receivedAt": "2026-01-01T00:00:00Z"}], "count": 1}
>   SCHEDULED  read   attempt 0  from {"letter": {"from": "Ann"}}
claim    read by dora
report   read by dora COMPLETED
show     monday
> RUNNING  desk
>   COMPLETED  first  attempt 0  {"messages": [{"id": "one", "workflowId": "@monday", "payload": {"from": "Ann"}, "receivedAt": "2026-01-01T00:00:00Z"}], "count": 1}
>   COMPLETED  read   attempt 0
>   COMPLETED  rest   attempt 0  {"messages": [{"id": "two", "workflowId": "@monday", "payload": {"from": "Bob"}, "receivedAt": "2026-01-01T00:00:00Z"}, {"id": "three", "workflowId": "@monday", "payload": {"from": "Cid"}, "receivedAt": "2026-01-01T00:00:00Z"}], "count": 2}
>   SCHEDULED  file   attempt 0  from {"ids": ["two", "three"], "count": 2}
