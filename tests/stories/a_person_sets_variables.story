# Merged over what is there; the next step sees them. Of a run that is over they cannot be set.
define-json {"name": "report", "variables": {"copies": 1, "paper": "A4"}, "tasks": [
    {"name": "gather", "taskReferenceName": "gather", "type": "SIMPLE"},
    {"name": "print", "taskReferenceName": "print", "type": "SIMPLE", "inputParameters": {"all": "${workflow.variables}"}}]}
start    march = report
variables march {"copies": 3, "colour": true}
variables march {"copies": 3}
variables march [1] -> 400
pause    march
variables march {"colour": null}
resume   march
claim    gather by ann
report   gather by ann COMPLETED
show     march
> RUNNING  report with {"copies": 3, "paper": "A4", "colour": null}
>   COMPLETED  gather  attempt 0
>   SCHEDULED  print   attempt 0  from {"all": {"copies": 3, "paper": "A4", "colour": null}}
terminate march
variables march {"copies": 4} -> 409
show     march
> TERMINATED  report with {"copies": 3, "paper": "A4", "colour": null}
>   COMPLETED  gather  attempt 0
>   CANCELED   print   attempt 0
