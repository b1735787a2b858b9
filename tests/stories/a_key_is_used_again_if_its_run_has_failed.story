# RETURN_EXISTING_UNLESS_FAILED: a run that is live or has completed is returned, any other is made up for.
define   charge: pay    retries=0
start    first = charge key=order-1 strategy=RETURN_EXISTING_UNLESS_FAILED
start    again = charge key=order-1 strategy=RETURN_EXISTING_UNLESS_FAILED -> first
claim    pay by ann -> first
report   pay by ann FAILED
start    second = charge key=order-1 strategy=RETURN_EXISTING_UNLESS_FAILED
terminate second
start    third = charge key=order-1 strategy=RETURN_EXISTING_UNLESS_FAILED
claim    pay by ann -> third
report   pay by ann COMPLETED
start    again = charge key=order-1 strategy=RETURN_EXISTING_UNLESS_FAILED -> third
# The run that failed may live again once no newer one does, and is the latest then.
retry    first
start    again = charge key=order-1 strategy=RETURN_EXISTING_UNLESS_FAILED -> first
