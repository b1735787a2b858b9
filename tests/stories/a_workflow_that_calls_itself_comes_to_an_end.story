# Runs inside runs are counted: the innermost fails, and so do all around it. Its failure workflow would be one too many.
define   sorry: write
define   matryoshka: (matryoshka)    workflow-failure=sorry
start    doll = matryoshka
child    innermost = doll matryoshka times=100
failure  sorry = doll
show     innermost
> FAILED  matryoshka  {"conductor.failure_workflow": "The failure workflow sorry was not started: 100 runs have led to this one"}
>   FAILED  matryoshka  attempt 0  because workflows are nested 100 deep; no child was started
