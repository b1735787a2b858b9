# A DYNAMIC step becomes a task of the name it is given, with that task's definition.
task-json {"name": "bike", "retryCount": 1, "retryDelaySeconds": 0}
define-json {"name": "ship", "tasks": [
    {"name": "carry", "taskReferenceName": "carry", "type": "DYNAMIC", "dynamicTaskNameParam": "by", "inputParameters": {"by": "${workflow.input.by}", "what": "lamp"}}]}
start    one = ship {"by": "bike"}
claim    bike by ann -> one
report   bike by ann FAILED reason="flat"
claim    bike by ann -> one
report   bike by ann COMPLETED {"at": "door"}
show     one
> COMPLETED  ship  {"at":"door"}
>   FAILED  carry  attempt 0  from {"by":"bike","what":"lamp"}  because flat
>   COMPLETED  carry  attempt 1  from {"by":"bike","what":"lamp"}  {"at":"door"}
start    two = ship
show     two
> FAILED  ship  because Cannot map a dynamic task based on the parameter and input. Parameter= by, input= {"by":null,"what":"lamp"}: by is ${workflow.input.by}, and ${workflow.input.by} is null, missing or empty
>   FAILED_WITH_TERMINAL_ERROR  carry  attempt 0  from {"by":null,"what":"lamp"}  because Cannot map a dynamic task based on the parameter and input. Parameter= by, input= {"by":null,"what":"lamp"}: by is ${workflow.input.by}, and ${workflow.input.by} is null, missing or empty
