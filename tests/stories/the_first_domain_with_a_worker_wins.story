# Who polled lately is not worth a commit, so on memory and SQLite this is not told broken: a server
# that has just started knows of nobody and takes the fallback, which is harmless.
define   checkout: charge
claim    charge by ann domain=canary -> nothing
start    order = checkout domain=blue,canary,stable
# A server that dies before it has looked at who is there looks again after 5 s.
advance  5s
claim    charge by bob domain=stable -> nothing
claim    charge by ann domain=canary -> order
# Ten seconds after its last poll a worker counts as gone.
advance  10s
start    later = checkout domain=canary,blue
advance  5s
claim    charge by ann domain=canary -> nothing
claim    charge by cat domain=blue -> later
report   charge by ann COMPLETED
report   charge by cat COMPLETED
show     later
> COMPLETED  checkout
>   COMPLETED  charge  attempt 0  by cat
