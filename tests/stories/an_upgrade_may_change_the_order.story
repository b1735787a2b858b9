# Steps that are done are not done again, wherever they stand now; those that are missing come.
define   report: gather -> render -> send
define   report: render -> gather -> print -> send    workflow-version=2
start    march = report version=1
claim    gather by ann
report   gather by ann COMPLETED
upgrade  march version=2
claim    render by ann
report   render by ann COMPLETED
claim    print by ann
report   print by ann COMPLETED
claim    send by ann
report   send by ann COMPLETED
show     march
> COMPLETED  report version 2
>   COMPLETED  gather  attempt 0
>   COMPLETED  render  attempt 0
>   COMPLETED  print   attempt 0
>   COMPLETED  send    attempt 0
