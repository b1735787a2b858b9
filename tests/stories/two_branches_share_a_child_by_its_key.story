# Two branches ask for a child under one key: it runs once, and both of them go on.
define   charge: pay
define-json {"name": "checkout", "tasks": [
    {"name": "fork", "taskReferenceName": "fork", "type": "FORK_JOIN", "forkTasks": [
        [{"name": "left", "taskReferenceName": "left", "type": "SUB_WORKFLOW", "subWorkflowParam": {
            "name": "charge", "idempotencyKey": "order-7", "idempotencyStrategy": "RETURN_EXISTING"}}],
        [{"name": "right", "taskReferenceName": "right", "type": "SUB_WORKFLOW", "subWorkflowParam": {
            "name": "charge", "idempotencyKey": "order-7", "idempotencyStrategy": "RETURN_EXISTING"}}]]},
    {"name": "join", "taskReferenceName": "join", "type": "JOIN", "joinOn": ["left", "right"]}]}
start    order = checkout
child    paid = order left
child    same = order right -> paid
claim    pay by ann -> paid
claim    pay by bob -> nothing
report   pay by ann COMPLETED {"receipt": 1}
verify   order
start    again = charge key=order-7 strategy=RETURN_EXISTING -> paid
