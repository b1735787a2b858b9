# Asked for, the newest version is what begins again.
define   checkout: charge -> ship
start    order = checkout
claim    charge by ann
terminate order
define   checkout: pay -> ship    workflow-version=2
restart  order latest
report   charge by ann COMPLETED -> 404
show     order
> RUNNING  checkout version 2
>   SCHEDULED  pay  attempt 0
terminate order
undefine checkout version=1
undefine checkout version=2
restart  order latest -> 404 "No such workflow defined. name=checkout"
restart  order
show     order
> RUNNING  checkout version 2
>   SCHEDULED  pay  attempt 0
