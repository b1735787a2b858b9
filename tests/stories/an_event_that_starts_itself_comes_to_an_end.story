# A run whose event begins its like is stopped when a hundred have led to it; one that has lived for a
# while may go on.
define-json {"name": "echo", "tasks": [
    {"name": "call", "taskReferenceName": "call", "type": "EVENT", "sink": "conductor"}]}
define-json {"name": "slow", "tasks": [
    {"name": "hold", "taskReferenceName": "hold", "type": "WAIT", "inputParameters": {"duration": "2s"}},
    {"name": "call", "taskReferenceName": "call", "type": "EVENT", "sink": "conductor"}]}
listen   {"name": "mountain", "event": "conductor:echo:call", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "echo"}}]}
listen   {"name": "valley", "event": "conductor:slow:call", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "slow"}}]}
start    first = echo
handled  last = first call by=mountain times=100
handled  none = last call by=mountain -> nothing
start    one = slow
advance  2s
handled  two = one call by=valley
advance  2s
handled  three = two call by=valley
