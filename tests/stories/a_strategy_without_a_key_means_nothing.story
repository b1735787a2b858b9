# Some SDKs always send a strategy; without a key every start is a run of its own.
define   checkout: charge
start    one = checkout strategy=FAIL
start    two = checkout strategy=FAIL
start    three = checkout strategy=FAIL_ON_RUNNING
start    four = checkout strategy=RETURN_EXISTING
claim    charge by ann count=4
claim    charge by ann -> nothing
show     four
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0
