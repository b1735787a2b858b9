# Unless its step names another.
define   parcel: pack
define   checkout: (parcel)
define-json {"name": "abroad", "tasks": [
    {"name": "parcel", "taskReferenceName": "parcel", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "parcel", "taskToDomain": {"*": "us"}}}]}
start    order = checkout domain=eu
start    other = abroad domain=eu
child    near = order parcel
child    far = other parcel
claim    pack by ann -> nothing
claim    pack by ann domain=eu -> near
claim    pack by ann domain=us -> far
