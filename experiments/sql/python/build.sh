#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of one Python subject, build/EXPERIMENT/python/DRIVER/venv, with what
# requirements-DRIVER.txt names, what another experiment's own requirements.txt names, and the kit. Each
# driver has its own, so that one that cannot be built stops no other one. Does nothing, and needs no
# network, when nothing changed.
set -eu

cd "$(dirname "$0")/../../.."
here=experiments/sql/python
driver=${1-}
experiment=${2-sql}
out=build/$experiment/python/$driver
requirements=$here/requirements-$driver.txt
own=
[ "$experiment" = sql ] || own=experiments/$experiment/python/requirements.txt
if [ -z "$driver" ] || [ "$driver" = build ] || [ ! -f "$requirements" ] || [ ! -f "${own:-$requirements}" ]; then
    echo "usage: $0 sqlite3|apsw|apsw-system|psycopg|mysqlclient|pymysql [EXPERIMENT]" >&2
    exit 2
fi

# Sums up what a step depends on, to be compared with what its last success left behind.
python_state() { python3 -c 'import sys; print(sys.executable, sys.version)'; }
venv_state() { { python_state; cat "$here/build.sh" "$here/requirements-build.txt" "$requirements" $own; } | sha256sum; }
kit_state() { find kits/python/src kits/python/pyproject.toml -name '__pycache__' -prune -o -type f -print |
    LC_ALL=C sort | xargs sha256sum; }

is_done() { [ -f "$out/$1.state" ] && [ "$(cat "$out/$1.state")" = "$2" ]; }

pip() { "$out/venv/bin/python" -m pip --disable-pip-version-check "$@"; }

mkdir -p "$out"
venv=$(venv_state)
if ! is_done venv "$venv"; then
    rm -f "$out"/*.state
    python3 -m venv --clear "$out/venv"
    pip install -q --require-hashes -r "$here/requirements-build.txt"
    # Built from source, apsw downloads a SQLite of its own unless it is told not to.
    case $driver in apsw*)
        printf '[build]\nfetch = False\n' >"$out/apsw.cfg"
        export DIST_EXTRA_CONFIG="$PWD/$out/apsw.cfg" ;;
    esac
    # No cache: it may hold a driver that was built on another library.
    pip install -q --no-cache-dir --require-hashes --no-build-isolation -r "$requirements" ${own:+-r "$own"}
    echo "$venv" >"$out/venv.state"
fi

kit=$(kit_state)
if ! is_done kit "$kit"; then
    pip install -q --no-index --no-deps --no-build-isolation --force-reinstall ./kits/python
    echo "$kit" >"$out/kit.state"
fi
