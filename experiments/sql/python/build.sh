#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates the environment of one Python subject, build/EXPERIMENT/python/DRIVER/venv, with the packages in
# requirements-DRIVER.txt, those in another experiment's own requirements.txt, and the kit. Each driver has
# its own environment, so that a driver that cannot be built does not affect the others.
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

builder=
case $driver in apsw* | mysqlclient) builder=$here/requirements-build.txt ;; esac
# When it is built from source, apsw downloads its own SQLite unless this is turned off.
case $driver in apsw*)
    mkdir -p "$out"
    printf '[build]\nfetch = False\n' >"$out/apsw.cfg"
    export DIST_EXTRA_CONFIG="$PWD/$out/apsw.cfg" ;;
esac
# No cache: it may contain a driver that was built with another library.
export PIP_NO_CACHE_DIR=1
exec sh kits/python/environment.sh "$out" $builder "$requirements" $own
