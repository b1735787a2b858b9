# Rerun without naming a task: the same run from the beginning, on another input if one is given.
define-json {"name": "invoice", "inputTemplate": {"currency": "EUR"}, "tasks": [
    {"name": "bill", "taskReferenceName": "bill", "type": "SIMPLE", "inputParameters": {"all": "${workflow.input}"}}]}
start    march = invoice {"cents": 1250}
rerun    march -> 409 "is RUNNING and cannot be rerun"
claim    bill by ann
report   bill by ann COMPLETED {"bill": 1}
rerun    march input={"cents": 1260}
report   bill by ann COMPLETED {"bill": 1} -> 404
show     march
> RUNNING  invoice from {"cents": 1260, "currency": "EUR"}
>   SCHEDULED  bill  attempt 0  from {"all": {"cents": 1260, "currency": "EUR"}}
claim    bill by ann
report   bill by ann COMPLETED {"bill": 2}
rerun    march
claim    bill by ann
report   bill by ann COMPLETED {"bill": 3}
show     march
> COMPLETED  invoice  from {"cents": 1260, "currency": "EUR"}  {"bill": 3}
>   COMPLETED  bill  attempt 0  from {"all": {"cents": 1260, "currency": "EUR"}}  {"bill": 3}
