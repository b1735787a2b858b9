# Trying again would give the same at once, however many retries there are.
define-json {"name": "stop", "tasks": [
    {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "retryCount": 2000000000,
     "inputParameters": {"terminationStatus": "${workflow.input.how}"}}]}
start    run = stop {"how": "gently"}
show     run
> FAILED  stop
>   FAILED  end  attempt 0
