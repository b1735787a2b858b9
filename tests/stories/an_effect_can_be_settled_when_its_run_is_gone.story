# The run that began an effect is removed while nobody knows what became of it. Its record is enough to settle it, and whoever waits goes on.
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order_id": "${workflow.input.order_id}"},
        "taskDefinition": {"name": "charge", "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60},
        "effect": {"key": "${order_id}", "onUnknown": "HOLD"}}]}
start    first = checkout {"order_id": 1}
start    other = checkout {"order_id": 2}
start    second = checkout {"order_id": 1}
start    third = checkout {"order_id": 2}
claim    charge by ann count=9 -> first other
terminate first
terminate other
remove   first
remove   other
show     second
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
resolve  second scope=charge key=1 applied {"charge_id": "ch_1"}
show     second
> COMPLETED  checkout  {"charge_id": "ch_1"}
>   COMPLETED  charge  attempt 0  effect REPLAYED  {"charge_id": "ch_1"}
resolve  second scope=charge key=1 -> 409
# It has not happened: who waits does it.
resolve  third scope=charge key=2
claim    charge by bob -> third
report   charge of third by bob COMPLETED {"charge_id": "ch_2"}
show     third
> COMPLETED  checkout  {"charge_id": "ch_2"}
>   COMPLETED  charge  attempt 0  effect CLAIMED  {"charge_id": "ch_2"}
