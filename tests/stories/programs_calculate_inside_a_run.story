# INLINE, LAMBDA and JSON_JQ_TRANSFORM are over before the start is answered.
define-json {"name": "sums", "outputParameters": {"sum": "${add.output.result.sum}", "twice": "${old.output.result}", "first": "${jq.output.result}", "all": "${jq.output.resultList}"}, "tasks": [
    {"name": "add", "taskReferenceName": "add", "type": "INLINE", "inputParameters": {"a": "${workflow.input.a}", "evaluatorType": "javascript", "expression": "function e() { return {sum: $.a + 1}; } e();"}},
    {"name": "old", "taskReferenceName": "old", "type": "LAMBDA", "inputParameters": {"n": "${add.output.result.sum}", "scriptExpression": "return $.n * 2;"}},
    {"name": "jq", "taskReferenceName": "jq", "type": "JSON_JQ_TRANSFORM", "inputParameters": {"xs": [3, 1, 2], "queryExpression": ".xs | sort | .[]"}}]}
start    one = sums {"a": 4}
show     one
> COMPLETED  sums  {"sum":5,"twice":10,"first":1,"all":[1,2,3]}
>   COMPLETED  add  attempt 0  from {"a":4,"evaluatorType":"javascript","expression":"function e() { return {sum: $.a + 1}; } e();"}  {"result":{"sum":5}}
>   COMPLETED  old  attempt 0  from {"n":5,"scriptExpression":"return $.n * 2;"}  {"result":10}
>   COMPLETED  jq  attempt 0  from {"xs":[3,1,2],"queryExpression":".xs | sort | .[]"}  {"result":1,"resultList":[1,2,3]}
