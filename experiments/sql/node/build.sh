#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Node.js subject of a database, build/sql/node/TARGET/subject.js, next to the driver's packages
# that it imports. If the packages are unchanged, it installs none, and needs no network.
set -eu

cd "$(dirname "$0")/../../.."
here=experiments/sql/node
out=build/sql/node
target=${1-}
case $target in
    postgresql | mariadb | sqlite) ;;
    *) echo "usage: $0 postgresql|mariadb|sqlite" >&2; exit 2 ;;
esac

# The state of the packages, to be compared with the state after the last installation: better-sqlite3 is
# compiled for one version of Node.js.
packages_state() {
    { node -p 'process.execPath + process.version + process.versions.modules'
      cat "$here/$target/package.json" "$here/$target/package-lock.json"; } | sha256sum
}

mkdir -p "$out/$target" "$out/node_modules/benchlab-kit"
state=$(packages_state)
if [ "$(cat "$out/$target.state" 2>/dev/null)" != "$state" ]; then
    rm -f "$out/$target.state"
    cp "$here/$target"/package*.json "$out/$target"
    # Where better-sqlite3's binary cannot be downloaded, it is compiled, with npm's node-gyp. The option
    # --prefix is not used, because it would hide this machine's settings of npm.
    (cd "$out/$target" && npm ci --omit=dev --omit=peer --no-audit --no-fund --loglevel=error)
    echo "$state" >"$out/$target.state"
fi

cp -R kits/node/package.json kits/node/src "$out/node_modules/benchlab-kit"
cp "$here/package.json" "$here/cases.js" "$here/own.js" "$out"
cp "$here/$target/subject.js" "$out/$target"
