# Not those that are inactive, whose condition does not hold or cannot be told, that listen to
# something else, or that are gone by then.
define   parcel: pack
define-json {"name": "shop", "tasks": [
    {"name": "sell", "taskReferenceName": "sell", "type": "EVENT", "sink": "conductor", "inputParameters": {"n": "${workflow.input.n}", "kind": "${workflow.input.kind}"}}]}
listen   {"name": "always", "event": "conductor:shop:sell", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
listen   {"name": "asleep", "event": "conductor:shop:sell", "active": false, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
listen   {"name": "books", "event": "conductor:shop:sell", "active": true, "condition": "$.kind == 'book' && $.n > 1", "actions": [
    {"action": "start_workflow", "start_workflow": {"name": "parcel"}},
    {"action": "start_workflow", "start_workflow": {"name": "nobody knows"}},
    {"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
listen   {"name": "elsewhere", "event": "conductor:shop:sell2", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
listen   {"name": "puzzled", "event": "conductor:shop:sell", "active": true, "condition": "$.not.there == 1", "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
start    book = shop {"kind": "book", "n": 2}
handled  a1 = book sell by=always
handled  b1 = book sell by=books
handled  b2 = book sell by=books action=1 -> nothing
handled  b3 = book sell by=books action=2
handled  c1 = book sell by=asleep -> nothing
handled  d1 = book sell by=elsewhere -> nothing
handled  e1 = book sell by=puzzled -> nothing
start    pen = shop {"kind": "pen", "n": 2}
handled  a2 = pen sell by=always
handled  b4 = pen sell by=books -> nothing
unlisten always
unlisten always -> 404
relisten {"name": "asleep", "event": "conductor:shop:sell", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
relisten {"name": "nobody", "event": "conductor:shop:sell", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]} -> 404
start    cup = shop {"kind": "cup", "n": 1}
handled  a3 = cup sell by=always -> nothing
handled  c2 = cup sell by=asleep
claim    pack by ann count=5
claim    pack by bob -> nothing
