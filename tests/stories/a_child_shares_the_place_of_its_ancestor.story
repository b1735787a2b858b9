# A workflow that calls itself with the same key would wait for itself: it shares the place instead.
define-json {"name": "tree", "concurrency": {"key": "${workflow.input.owner}"}, "tasks": [
    {"name": "more", "taskReferenceName": "more", "type": "SWITCH", "evaluatorType": "value-param", "expression": "more",
     "inputParameters": {"more": "${workflow.input.more}"}, "decisionCases": {
       "yes": [{"name": "tree", "taskReferenceName": "inner", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "tree"},
                "inputParameters": {"owner": "${workflow.input.inner}", "more": "no"}}]}},
    {"name": "leaf", "taskReferenceName": "leaf", "type": "SIMPLE"}]}
start    one = tree {"owner": "a", "more": "yes", "inner": "a"}
start    two = tree {"owner": "b", "more": "yes", "inner": "a"}
child    inner = one inner
child    waits = two inner
claim    leaf by ann count=9 -> inner
show     waits
> RUNNING  tree
report   leaf of inner by ann COMPLETED
claim    leaf by ann count=9 -> one
report   leaf of one by ann COMPLETED
claim    leaf by ann count=9 -> waits
