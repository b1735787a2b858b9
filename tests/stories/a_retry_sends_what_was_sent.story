# A key stands for one request: the next attempt sends it as it was, whatever has changed meanwhile.
define-json {"name": "pay", "variables": {"n": 1}, "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "downstream": {"honoursKeys": true}, "taskDefinition": {"name": "charge", "retryCount": 2, "retryDelaySeconds": 0}, "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "body": {"n": "${workflow.variables.n}"}}}}]}
start    order = pay
claim    HTTP by ann
variables order {"n": 2}
report   HTTP by ann FAILED reason="502"
claim    HTTP by bob
advance  61s
claim    HTTP by cas
report   HTTP by cas COMPLETED
show     order
> COMPLETED  pay  with {"n": 2}
>   FAILED     charge  attempt 0  by ann  from {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "body": {"n": 1}}}
>   TIMED_OUT  charge  attempt 1  by bob  from {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "body": {"n": 1}}}
>   COMPLETED  charge  attempt 2  by cas  from {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "body": {"n": 1}}}
