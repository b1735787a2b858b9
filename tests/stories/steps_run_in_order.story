# Three steps, one after the other; the output of the run is that of its last step.
define   parcel: pack -> label -> send
start    box = parcel {"to": "Utrecht"}
claim    label by ann -> nothing
claim    pack by ann
claim    pack by bob -> nothing
report   pack by ann COMPLETED {"grams": 300} -> APPLIED
claim    label by bob
report   label by bob COMPLETED {"code": "3S"}
claim    send by bob
show     box
> RUNNING      parcel
>   COMPLETED    pack   attempt 0  by ann  {"grams":300}
>   COMPLETED    label  attempt 0  by bob  {"code":"3S"}
>   IN_PROGRESS  send   attempt 0  by bob
report   send by bob COMPLETED {"track": "T1"}
show     box
> COMPLETED  parcel  from {"to":"Utrecht"}  {"track":"T1"}
>   COMPLETED  pack   attempt 0  {"grams":300}
>   COMPLETED  label  attempt 0  {"code":"3S"}
>   COMPLETED  send   attempt 0  {"track":"T1"}
verify   box
