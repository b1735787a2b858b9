# The latest version is the default, and a key spans all of them.
define-json {"name": "greet", "version": 1, "tasks": [{"name": "wave", "taskReferenceName": "wave", "type": "SIMPLE"}]}
define-json {"name": "greet", "version": 2, "tasks": [{"name": "bow", "taskReferenceName": "bow", "type": "SIMPLE"}]}
define-json {"name": "greet", "version": 2, "tasks": [{"name": "hug", "taskReferenceName": "hug", "type": "SIMPLE"}]} -> 409
start    new = greet key=a
start    old = greet version=1 key=b
start    again = greet version=1 key=a strategy=RETURN_EXISTING -> new
show     new
> RUNNING  greet
>   SCHEDULED  bow  attempt 0
show     old
> RUNNING  greet
>   SCHEDULED  wave  attempt 0
