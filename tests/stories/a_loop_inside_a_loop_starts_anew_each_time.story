# The inner turns are counted inside the outer ones.
define-json {"name": "grid", "tasks": [
    {"name": "row", "taskReferenceName": "row", "type": "DO_WHILE", "loopOver": [{"name": "cell", "taskReferenceName": "cell", "type": "DO_WHILE", "loopOver": [{"name": "dot", "taskReferenceName": "dot", "type": "SIMPLE"}], "loopCondition": "$.cell.iteration < 2"}], "loopCondition": "$.row.iteration < 2"}]}
start    one = grid
claim    dot by ann
report   dot by ann COMPLETED {"n": 1}
claim    dot by ann
report   dot by ann COMPLETED {"n": 2}
claim    dot by ann
report   dot by ann COMPLETED {"n": 3}
claim    dot by ann
report   dot by ann COMPLETED {"n": 4}
show     one
> COMPLETED  grid  {"n":4}
>   COMPLETED  row  attempt 0  {"iteration":2,"1":{"cell":{"iteration":2,"1":{"dot":{"n":1}},"2":{"dot":{"n":2}}}},"2":{"cell":{"iteration":2,"1":{"dot":{"n":3}},"2":{"dot":{"n":4}}}}}
>   COMPLETED  cell__1  attempt 0  {"iteration":2,"1":{"dot":{"n":1}},"2":{"dot":{"n":2}}}
>   COMPLETED  dot__1__1  attempt 0  {"n":1}
>   COMPLETED  dot__1__2  attempt 0  {"n":2}
>   COMPLETED  cell__2  attempt 0  {"iteration":2,"1":{"dot":{"n":3}},"2":{"dot":{"n":4}}}
>   COMPLETED  dot__2__1  attempt 0  {"n":3}
>   COMPLETED  dot__2__2  attempt 0  {"n":4}
