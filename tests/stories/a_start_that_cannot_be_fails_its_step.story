# The step says what is wrong with the start it was asked to make.
define-json {"name": "bare", "tasks": [{"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW"}]}
define-json {"name": "wrong", "tasks": [{"name": "begin", "taskReferenceName": "begin", "type": "START_WORKFLOW", "inputParameters": {"startWorkflow": {"name": "nowhere"}}}]}
start    one = bare
start    two = wrong
show     one
> FAILED  bare
>   FAILED  begin  attempt 0  because Missing 'startWorkflow' in input data.
show     two
> FAILED  wrong
>   FAILED  begin  attempt 0  because No such workflow defined. name=nowhere, version=null
