# Whoever had it may have sent it, and nobody could tell a repeat from another order.
define-json {"name": "pay", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "retryCount": 3, "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "idempotency": {"enabled": false}}}}]}
start    order = pay
claim    HTTP by ann
advance  61s
show     order
> FAILED  pay  {"_effect": {"applied": "unknown", "class": "UNSAFE"}}
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0  by ann  {"_effect": {"applied": "unknown", "class": "UNSAFE"}}
report   HTTP by ann COMPLETED -> STALE
