# A workflow says what it takes. What does not fit begins nothing, and leaves its key free.
define-json {"name": "checkout", "inputTemplate": {"currency": "EUR"},
    "inputSchema": {"type": "JSON", "data": {"type": "object", "required": ["amount", "currency"],
        "properties": {"amount": {"type": "number", "exclusiveMinimum": 0}, "currency": {"enum": ["EUR", "USD"]}}}},
    "tasks": [{"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"}]}
start    order = checkout key=9243 -> 400
start    order = checkout {"amount": "much"} key=9243 -> 400
start    order = checkout {"amount": 10, "currency": "XXX"} key=9243 -> 400
start    order = checkout {"amount": 10} key=9243
show     order
> RUNNING  checkout
>   SCHEDULED  charge  attempt 0
# With enforceSchema off it is only a description.
define-json {"name": "lax", "enforceSchema": false,
    "inputSchema": {"type": "JSON", "data": {"type": "object", "required": ["amount"]}},
    "tasks": [{"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE"}]}
start    other = lax
show     other
> RUNNING  lax
>   SCHEDULED  charge  attempt 0
