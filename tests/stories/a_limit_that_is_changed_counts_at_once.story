# Limits are those of the task definition as it is registered now, also for tasks that wait already.
define   checkout: charge    limit=1
start    one = checkout
advance  1s
start    two = checkout
advance  1s
start    three = checkout
claim    charge by ann -> one
claim    charge by bob -> nothing
task-json {"name": "charge", "concurrentExecLimit": 2}
claim    charge by bob -> two
claim    charge by cat -> nothing
task-json {"name": "charge", "rateLimitPerFrequency": 2, "rateLimitFrequencyInSeconds": 10}
claim    charge by cat -> three
show     three
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  by cat
