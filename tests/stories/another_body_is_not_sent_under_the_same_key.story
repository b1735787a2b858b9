# A key stands for one request in all lives of its run. Whoever wants another one sent says so, and gets another key.
define-json {"name": "pay", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "HTTP", "inputParameters": {"http_request": {"uri": "http://bank.example/charges", "method": "POST", "body": {"n": "${workflow.input.n}"}}}}]}
start    order = pay {"n": 1}
claim    HTTP by ann
report   HTTP by ann FAILED reason="502"
restart  order
claim    HTTP by ann
report   HTTP by ann FAILED reason="502"
rerun    order input={"n": 2}
claim    HTTP by ann -> nothing
show     order
> FAILED  pay  from {"n": 2}
>   FAILED_WITH_TERMINAL_ERROR  charge  attempt 0
rerun    order input={"n": 1}
claim    HTTP by ann
report   HTTP by ann FAILED reason="502"
rerun    order redo input={"n": 2}
claim    HTTP by ann
report   HTTP by ann COMPLETED {"charge": "ch_1"}
show     order
> COMPLETED  pay  from {"n": 2}  {"charge": "ch_1"}
>   COMPLETED  charge  attempt 0  {"charge": "ch_1"}
