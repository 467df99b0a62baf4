#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Creates the Node.js subject, build/rest/node/subject.js, next to the kit that it imports. It needs no
# packages and no network.
set -eu

cd "$(dirname "$0")/../../.."
here=experiments/rest/node
out=build/rest/node

mkdir -p "$out/node_modules/benchlab-kit"
cp -R kits/node/package.json kits/node/src "$out/node_modules/benchlab-kit"
cp "$here/package.json" "$here"/*.js "$out"
