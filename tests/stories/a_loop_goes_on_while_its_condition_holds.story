# The condition sees its parameters, the loop and the last outputs of the body.
define-json {"name": "poll", "tasks": [
    {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "loopOver": [{"name": "probe", "taskReferenceName": "probe", "type": "SIMPLE", "inputParameters": {"turn": "${loop.output.iteration}"}}], "loopCondition": "$.loop.iteration < $.max && $.probe.state != 'ready'", "inputParameters": {"max": "${workflow.input.max}"}},
    {"name": "use", "taskReferenceName": "use", "type": "SIMPLE", "inputParameters": {"last": "${probe.output.state}", "first": "${loop.output['1'].probe.state}"}}]}
start    one = poll {"max": 5}
claim    probe by ann
report   probe by ann COMPLETED {"state": "wait"}
report   probe by ann COMPLETED {"state": "wait"} -> REPEATED
show     one
> RUNNING  poll
>   IN_PROGRESS  loop  attempt 0  from {"max":5}  {"iteration":2,"1":{"probe":{"state":"wait"}},"2":{"probe":{}}}
>   COMPLETED  probe__1  attempt 0  from {"turn":1}  {"state":"wait"}
>   SCHEDULED  probe__2  attempt 0  from {"turn":2}
claim    probe by ann
report   probe by ann COMPLETED {"state": "ready"}
show     one
> RUNNING  poll
>   COMPLETED  loop  attempt 0  from {"max":5}  {"iteration":2,"1":{"probe":{"state":"wait"}},"2":{"probe":{"state":"ready"}}}
>   COMPLETED  probe__1  attempt 0  from {"turn":1}  {"state":"wait"}
>   COMPLETED  probe__2  attempt 0  from {"turn":2}  {"state":"ready"}
>   SCHEDULED  use  attempt 0  from {"last":"ready","first":"wait"}
start    two = poll {"max": 1}
claim    probe by ann -> two
report   probe by ann COMPLETED {"state": "wait"}
show     two
> RUNNING  poll
>   COMPLETED  loop  attempt 0  from {"max":1}  {"iteration":1,"1":{"probe":{"state":"wait"}}}
>   COMPLETED  probe__1  attempt 0  from {"turn":1}  {"state":"wait"}
>   SCHEDULED  use  attempt 0  from {"last":"wait","first":"wait"}
