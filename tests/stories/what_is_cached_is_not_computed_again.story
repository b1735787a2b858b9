# A cache has one flight: whoever asks meanwhile waits, whoever asks in time is told, later it is done again.
task-json {"name": "quote", "cacheConfig": {"key": "${symbol}", "ttlInSecond": 60}}
define-json {"name": "price", "tasks": [{"name": "quote", "taskReferenceName": "quote", "type": "SIMPLE",
    "inputParameters": {"symbol": "${workflow.input.symbol}"}}]}
start    first = price {"symbol": "A"}
start    meanwhile = price {"symbol": "A"}
claim    quote by ann -> first
report   quote by ann COMPLETED {"price": 7}
start    soon = price {"symbol": "A"}
claim    quote by ann -> nothing
advance  61s
start    later = price {"symbol": "A"}
claim    quote by ann -> later
report   quote by ann COMPLETED {"price": 8}
show     meanwhile
> COMPLETED  price  {"price": 7}
>   COMPLETED  quote  attempt 0  {"price": 7}
show     soon
> COMPLETED  price  {"price": 7}
>   COMPLETED  quote  attempt 0  {"price": 7}
show     later
> COMPLETED  price  {"price": 8}
>   COMPLETED  quote  attempt 0  {"price": 8}
