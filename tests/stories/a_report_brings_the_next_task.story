# update-v2 answers with the next task of the queue; its repeat brings the same one, never another.
define   checkout: charge    response-timeout=60s
start    one = checkout
advance  1s
start    two = checkout
advance  1s
start    three = checkout
claim    charge by ann -> one
report-v2 charge of one by ann COMPLETED {"n": 1} -> APPLIED NEXT two
report-v2 charge of one by ann COMPLETED {"n": 1} -> REPEATED NEXT two
claim    charge by bob -> three
report-v2 charge of two by ann COMPLETED {"n": 2} -> APPLIED NEXT nothing
# A task that comes later is not for the repeat: its sender may be long gone.
advance  1s
start    four = checkout
report-v2 charge of two by ann COMPLETED {"n": 2} -> REPEATED NEXT nothing
report-v2 charge of one by ann COMPLETED {"n": 1} -> REPEATED NEXT nothing
report-v2 charge of three by bob COMPLETED {"n": 3} -> NEXT four
show     two
> COMPLETED  checkout  {"n":2}
>   COMPLETED  charge  attempt 0  by ann  {"n":2}
show     four
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  by bob
