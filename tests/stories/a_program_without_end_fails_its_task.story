# Its budget is counted in steps, so it ends the same everywhere.
define-json {"name": "hang", "tasks": [
    {"name": "spin", "taskReferenceName": "spin", "type": "INLINE", "inputParameters": {"expression": "while (true) {}"}}]}
start    one = hang
show     one
> FAILED  hang  {"error":"the script ran longer than 500 ticks"}  because Task # failed with status: FAILED and reason: 'the script ran longer than 500 ticks'
>   FAILED_WITH_TERMINAL_ERROR  spin  attempt 0  from {"expression":"while (true) {}"}  {"error":"the script ran longer than 500 ticks"}  because the script ran longer than 500 ticks
