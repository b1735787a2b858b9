# Who polled lately is not worth a commit, so this is not told broken: a server that has just
# started knows of nobody and takes the fallback, which is harmless.
define   checkout: charge
claim    charge by ann domain=canary -> nothing
start    order = checkout domain=blue,canary,stable
claim    charge by bob domain=stable -> nothing
claim    charge by ann domain=canary -> order
# Ten seconds after its last poll a worker counts as gone.
advance  10s
start    later = checkout domain=canary,blue
claim    charge by ann domain=canary -> nothing
claim    charge by cat domain=blue -> later
show     later
> RUNNING  checkout
>   IN_PROGRESS  charge  attempt 0  by cat
