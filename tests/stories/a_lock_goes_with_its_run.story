# A run that ends gives back the locks it has, in the commit that ends it.
define-json {"name": "job", "tasks": [
    {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "door"}},
    {"name": "lock", "taskReferenceName": "once_more", "type": "ACQUIRE_LOCK", "inputParameters": {"name": "door"}},
    {"name": "work", "taskReferenceName": "work", "type": "SIMPLE"}]}
start    one = job
start    two = job
start    three = job
start    four = job
claim    work by ann count=9 -> one
terminate one reason=enough
claim    work by ann count=9 -> two
report   work of two by ann COMPLETED
claim    work by ann count=9 -> three
remove   three running
claim    work by ann count=9 -> four
show     two
> COMPLETED  job
>   COMPLETED  lock       attempt 0  {"name": "door", "fence": "#"}
>   COMPLETED  once_more  attempt 0  {"name": "door", "fence": "#"}
>   COMPLETED  work       attempt 0
