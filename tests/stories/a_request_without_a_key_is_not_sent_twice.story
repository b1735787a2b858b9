# Whoever had it may have sent it, and nobody could tell a repeat from another order.
define-json {"name": "pay", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "retryCount": 3, "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "idempotency": {"enabled": false}}}}]}
start    order = pay
claim    HTTP by ann
advance  61s
claim    HTTP by bob -> nothing
show     order
> RUNNING  pay
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
terminate order
retry    order
claim    HTTP by bob -> nothing
terminate order
restart  order
claim    HTTP by bob -> nothing
show     order
> RUNNING  pay
>   IN_PROGRESS  charge  attempt 0  effect UNKNOWN
terminate order
restart  order redo
claim    HTTP by bob
report   HTTP by bob COMPLETED {"charge": "ch_1"}
show     order
> COMPLETED  pay  {"charge": "ch_1"}
>   COMPLETED  charge  attempt 0  {"charge": "ch_1"}
