# A result that is kept, a run that is started and a message that is published: once under their key.
define   newsletter: write
define-json {"name": "signup", "outputParameters": {"done": true}, "tasks": [
    {"name": "score", "taskReferenceName": "score", "type": "INLINE", "effect": {"key": "${who}"},
        "inputParameters": {"who": "${workflow.input.who}", "n": "${workflow.input.n}", "evaluatorType": "javascript", "expression": "$.n * 2"}},
    {"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "effect": {"key": "${who}"},
        "inputParameters": {"who": "${workflow.input.who}", "startWorkflow": {"name": "newsletter"}}},
    {"name": "tell", "taskReferenceName": "tell", "type": "EVENT", "sink": "conductor", "effect": {"key": "${who}"},
        "inputParameters": {"who": "${workflow.input.who}"}}]}
start    first = signup {"who": "eve", "n": 1}
started  letter = first begin
start    second = signup {"who": "eve", "n": 5}
show     second
> COMPLETED  signup  {"done": true}
>   COMPLETED  score  attempt 0  effect REPLAYED  {"result": 2}
>   COMPLETED  begin  attempt 0  effect REPLAYED  {"workflowId": "@letter"}
>   COMPLETED  tell   attempt 0  effect REPLAYED  {"who": "eve", "workflowInstanceId": "@first", "workflowType": "signup", "workflowVersion": 1, "correlationId": null, "taskToDomain": {}, "event_produced": "conductor:signup:tell"}
claim    write by ann -> letter
claim    write by bob -> nothing
