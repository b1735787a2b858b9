# No worker is handed what its task definition does not allow, and trying again would not help.
task-json {"name": "charge", "retryCount": 3, "retryDelaySeconds": 0, "enforceSchema": true,
    "inputSchema": {"type": "JSON", "data": {"type": "object", "properties": {"amount": {"type": "number"}}}}}
define-json {"name": "checkout", "tasks": [
    {"name": "weigh", "taskReferenceName": "weigh", "type": "SIMPLE"},
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "inputParameters": {"amount": "${weigh.output.amount}"}}]}
start    order = checkout
claim    weigh by ann
report   weigh by ann COMPLETED {"amount": "much"}
claim    charge by ann -> nothing
show     order
> FAILED  checkout  because Task # failed with status: FAILED and reason: 'the input does not fit its schema: input.amount: value is not of type "number"'
>   COMPLETED                   weigh   attempt 0  {"amount":"much"}
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0  because the input does not fit its schema: input.amount: value is not of type "number"
# Whoever knows better can give it an input by hand.
rerun    order from=charge task-input={"amount": 10}
claim    charge by bob
report   charge by bob COMPLETED
show     order
> COMPLETED  checkout
>   COMPLETED  weigh   attempt 0  {"amount":"much"}
>   COMPLETED  charge  attempt 0
