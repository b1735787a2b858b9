# Sourced: servers of one's own, each on a free port and a directory that is gone afterwards.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary=${SEMEL_BINARY:-$root/target/release/semel}
cache=${COMPATIBILITY_CACHE:-$root/target/compatibility}
servers=()
room=

# Ends what was started, and only that.
clear_room() {
    local pid
    for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${servers[@]}"; do wait "$pid" 2>/dev/null || true; done
    servers=()
    if [[ -n $room ]]; then rm -rf "$room"; fi
    room=
}
trap clear_room EXIT
trap 'exit 130' INT TERM

# A place for the data and logs of the next servers.
new_room() {
    clear_room
    room=$(mktemp -d)
}

# serve NAME OPTION...: starts a server; `address` is where it listens, `log` what it says.
serve() {
    local name=$1 deadline=$((SECONDS + 30))
    shift
    log=$room/$name.log
    address=
    "$binary" server --listen 127.0.0.1:0 --data "$room/$name" "$@" >"$log" 2>&1 &
    servers+=($!)
    until address=$(sed -n 's/^ *listening on  *//p' "$log") && [[ -n $address ]]; do
        if ((SECONDS > deadline)) || ! kill -0 "${servers[-1]}" 2>/dev/null; then
            { echo "the server '$name' does not start:"; cat "$log"; } >&2
            return 1
        fi
        sleep 0.05
    done
}

# The binary to test, built if it is the usual one and not there.
need_binary() {
    if [[ -z ${SEMEL_BINARY:-} && ! -x $binary ]]; then
        (cd "$root" && cargo build --release --locked) || return
    fi
    [[ -x $binary ]] || { echo "no server at $binary" >&2; return 1; }
}

needs() {
    command -v "$1" >/dev/null || { echo "no $1 on the PATH; it is needed for $2" >&2; return 1; }
}

# installed NAME FILE...: true if exactly what these files name is installed already.
installed() {
    local stamp=$cache/$1/installed
    shift
    [[ -e $stamp ]] && cmp -s "$stamp" <(cat -- "$@")
}

# remember NAME FILE...: for the next `installed`.
remember() {
    local stamp=$cache/$1/installed
    shift
    cat -- "$@" >"$stamp"
}

# install_venv NAME REQUIREMENTS: a Python environment in the cache with exactly these packages.
install_venv() {
    needs python3 "$1" || return
    installed "$1" "$2" && return
    mkdir -p "$cache/$1" &&
        python3 -m venv --clear "$cache/$1/venv" &&
        "$cache/$1/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$2" &&
        "$cache/$1/venv/bin/pip" check &&
        remember "$1" "$2"
}
