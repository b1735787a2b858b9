# A lock without a name, or a lease that is no time, fails its task for good.
define-json {"name": "job", "tasks": [
    {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "${workflow.input.lock}", "leaseSeconds": "${workflow.input.seconds}"}}]}
start    nameless = job
start    endless = job {"lock": "door", "seconds": -1}
show     nameless
> FAILED  job because Task # failed with status: FAILED and reason: 'name is ${workflow.input.lock}, and ${workflow.input.lock} is null, missing or empty: there is no key'
>   FAILED_WITH_TERMINAL_ERROR  lock  attempt 0
show     endless
> FAILED  job because Task # failed with status: FAILED and reason: 'leaseSeconds must be a number from 1 to 604800, not -1'
>   FAILED_WITH_TERMINAL_ERROR  lock  attempt 0
