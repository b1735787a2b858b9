# Two hand-outs in any ten seconds; a report gives nothing back.
define   mail: send      rate=2/10s
start    one = mail
advance  1s
start    two = mail
advance  1s
start    three = mail
claim    send by ann -> one
report   send by ann COMPLETED
claim    send by bob count=2 -> two
claim    send by cat -> nothing
advance  9s
claim    send by cat -> nothing
advance  2s
claim    send by cat -> three
report   send by cat COMPLETED
show     three
> COMPLETED  mail
>   COMPLETED  send  attempt 0  by cat
