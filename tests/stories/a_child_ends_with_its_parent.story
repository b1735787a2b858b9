# Children of children too. Each is told why.
define   label: print
define   parcel: (label)
define   checkout: (parcel)
start    order = checkout
start    other = checkout
child    parcel = order parcel
child    label = parcel label
child    box = other parcel
child    tag = box label
terminate order reason="fraud suspected"
terminate other
show     parcel
> TERMINATED  parcel  {"subWorkflowId": "@label"}  because Parent workflow has been terminated with reason: fraud suspected
>   CANCELED  label  attempt 0  {"subWorkflowId": "@label"}
show     label
> TERMINATED  label  because Parent workflow has been terminated with reason: Parent workflow has been terminated with reason: fraud suspected
>   CANCELED  print  attempt 0
show     box
> TERMINATED  parcel  {"subWorkflowId": "@tag"}  because Parent workflow has been terminated with status TERMINATED
>   CANCELED  label  attempt 0  {"subWorkflowId": "@tag"}
claim    print by ann count=2 -> nothing
