#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of the Python subjects, build/sql/python/venv; with the argument "system",
# build/sql/python-system/venv, where apsw is built on the system's libsqlite3. Does nothing, and
# needs no network, when nothing changed.
set -eu

here=experiments/sql/python
cd "$(dirname "$0")/../../.."
case ${1-} in
    '') out=build/sql/python requirements=$here/requirements.txt ;;
    system) out=build/sql/python-system requirements=$here/requirements-system.txt ;;
    *) echo "usage: $0 [system]" >&2; exit 2 ;;
esac

# Sums up what a step depends on, to be compared with what its last success left behind.
python_state() { python3 -c 'import sys; print(sys.executable, sys.version)'; }
venv_state() { { python_state; cat "$here/build.sh" "$here/requirements-build.txt" "$requirements"; } | sha256sum; }
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
    # Built from source, apsw downloads a SQLite of its own unless it is told not to. No cache, for
    # it may hold an apsw that was built so.
    printf '[build]\nfetch = False\n' >"$out/apsw.cfg"
    DIST_EXTRA_CONFIG=$PWD/$out/apsw.cfg pip install -q --no-cache-dir --require-hashes \
        --no-build-isolation -r "$requirements"
    echo "$venv" >"$out/venv.state"
fi

kit=$(kit_state)
if ! is_done kit "$kit"; then
    pip install -q --no-index --no-deps --no-build-isolation --force-reinstall ./kits/python
    echo "$kit" >"$out/kit.state"
fi
