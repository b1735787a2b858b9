# A key given in the action is obeyed: the second sale of a book finds the first one's parcel.
define   parcel: pack
define-json {"name": "shop", "tasks": [
    {"name": "sell", "taskReferenceName": "sell", "type": "EVENT", "sink": "conductor:sold", "inputParameters": {"id": "${workflow.input.id}"}}]}
listen   {"name": "same", "event": "conductor:shop:sold", "active": true, "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel", "idempotencyKey": "sale ${id}", "idempotencyStrategy": "RETURN_EXISTING"}}]}
listen   {"name": "sole", "event": "conductor:shop:sold", "active": true, "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel", "idempotencyKey": "sole ${id}"}}]}
start    first = shop {"id": 1}
handled  box = first sell by=same
handled  other = first sell by=sole
start    again = shop {"id": 1}
handled  none = again sell by=same -> nothing
handled  nor = again sell by=sole -> nothing
start    next = shop {"id": 2}
handled  box2 = next sell by=same
start    asked = parcel key="sale 1" strategy=RETURN_EXISTING -> box
