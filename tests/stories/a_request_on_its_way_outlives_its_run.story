# The run is ended while a request without a key is on its way: whoever retries the run does not send it again.
define-json {"name": "pay", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "retryCount": 3, "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "idempotency": {"enabled": false}}}}]}
start    order = pay
claim    HTTP by ann
terminate order
retry    order
claim    HTTP by bob -> nothing
show     order
> RUNNING  pay
>   CANCELED     charge  attempt 0  effect UNKNOWN
>   IN_PROGRESS  charge  attempt 1  effect UNKNOWN
terminate order
restart  order redo
claim    HTTP by bob
report   HTTP by bob COMPLETED {"charge": "ch_1"}
show     order
> COMPLETED  pay  {"charge": "ch_1"}
>   COMPLETED  charge  attempt 0  {"charge": "ch_1"}
