# A key protects from a second charge only where somebody looks at it: without that knowledge nothing is sent twice.
define-json {"name": "pay", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "retryCount": 3, "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST"}}}]}
define-json {"name": "pay_known", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "retryCount": 3, "downstream": {"honoursKeys": true}, "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST"}}}]}
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
start    known = pay_known
claim    HTTP by cid -> known
advance  61s
advance  60s
claim    HTTP by dot -> known
report   HTTP of known by dot COMPLETED {"charge": "ch_1"}
show     known
> COMPLETED  pay_known  {"charge": "ch_1"}
>   TIMED_OUT  charge  attempt 0
>   COMPLETED  charge  attempt 1  {"charge": "ch_1"}
