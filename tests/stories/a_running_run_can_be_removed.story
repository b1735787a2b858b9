# As clients ask, with an archive in mind: it ends first, nobody is handed a task of it, and its key is free.
define   checkout: charge
start    order = checkout key=9243
claim    charge by ann
remove   order
report   charge by ann COMPLETED -> 404
claim    charge by bob -> nothing
start    second = checkout key=9243
remove   second running
claim    charge by bob -> nothing
show     order
> removed
show     second
> removed
