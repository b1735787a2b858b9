# onStateChange: what a task comes into is told to event handlers, once for each attempt and state, in the
# commit that made it so. That a worker has begun is told by the first commit that knows of it.
define   parcel: pack retries=0
define-json {"name": "checkout", "tasks": [
    {"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE", "retryCount": 1,
     "taskDefinition": {"name": "charge", "retryDelaySeconds": 0},
     "onStateChange": {
        "onScheduled": [{"type": "charge_waits", "payload": {"order": "${workflow.input.id}"}}],
        "onStart, onFailed": [{"type": "charge_news", "payload": {"status": "${charge.status}", "attempt": "${charge.retryCount}"}}],
        "onSuccess": [{"type": "charged", "payload": {"order": "${workflow.input.id}", "cents": "${charge.output.cents}"}}]}},
    {"name": "ship", "taskReferenceName": "ship", "type": "SIMPLE", "onStateChange": {"onCancelled": [{"type": "not_shipped"}]}}]}
listen   {"name": "waits", "event": "charge_waits", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel", "input": {"order": "${order}"}}}]}
listen   {"name": "news", "event": "charge_news", "active": true, "condition": "$.status == 'FAILED'", "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel", "input": {"attempt": "${attempt}"}}}]}
listen   {"name": "paid", "event": "charged", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel", "input": {"cents": "${cents}"}}}]}
listen   {"name": "sorry", "event": "not_shipped", "active": true, "actions": [{"action": "start_workflow", "start_workflow": {"name": "parcel"}}]}
start    order = checkout {"id": 7}
handled  first = order event=charge_waits by=waits
show     first
> RUNNING  parcel  from {"order": 7, "conductor.event.messageId": "#", "conductor.event.name": "charge_waits"}
>   SCHEDULED  pack  attempt 0
claim    charge by ann
report   charge by ann FAILED
handled  failed = order event=charge_news by=news
handled  second = order event=charge_waits by=waits
show     failed
> RUNNING  parcel  from {"attempt": 0, "conductor.event.messageId": "#", "conductor.event.name": "charge_news"}
>   SCHEDULED  pack  attempt 0
claim    charge by ann
report   charge by ann COMPLETED {"cents": 100}
handled  done = order event=charged by=paid
show     done
> RUNNING  parcel  from {"cents": 100, "conductor.event.messageId": "#", "conductor.event.name": "charged"}
>   SCHEDULED  pack  attempt 0
terminate order
handled  last = order event=not_shipped by=sorry
claim    pack by bob count=5
claim    pack by bob -> nothing
