# A TERMINATE task inside a child ends the child; the parent goes by how it ended.
define-json {"name": "parcel", "tasks": [
    {"name": "pack", "taskReferenceName": "pack", "type": "SIMPLE"},
    {"name": "end", "taskReferenceName": "end", "type": "TERMINATE", "inputParameters": {
        "terminationStatus": "${workflow.input.how}", "terminationReason": "enough", "workflowOutput": {"box": "${pack.output.box}"}}},
    {"name": "close", "taskReferenceName": "close", "type": "SIMPLE"}]}
define-json {"name": "checkout", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel"}, "inputParameters": {"how": "${workflow.input.how}"}},
    {"name": "thank", "taskReferenceName": "thank", "type": "SIMPLE"}]}
start    good = checkout {"how": "COMPLETED"}
start    bad = checkout {"how": "TERMINATED"}
child    one = good parcel
child    two = bad parcel
claim    pack by ann count=2
report   pack of one by ann COMPLETED {"box": 7}
report   pack of two by ann COMPLETED {"box": 8}
show     one
> COMPLETED  parcel  {"box": 7}  because enough
>   COMPLETED  pack  attempt 0  {"box": 7}
>   COMPLETED  end   attempt 0  {"box": 7}
show     good
> RUNNING  checkout
>   COMPLETED  parcel  attempt 0  {"subWorkflowId": "@one", "box": 7}
>   SCHEDULED  thank   attempt 0
show     bad
> TERMINATED  checkout  {"subWorkflowId": "@two", "box": 8}
>   CANCELED  parcel  attempt 0  {"subWorkflowId": "@two", "box": 8}  because Sub workflow parcel.1/@two failure reason: enough
