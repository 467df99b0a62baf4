#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs java of a version that is not the one in PATH: sh experiments/jdk.sh 25 ARGUMENT... The runtime is in $JAVA_25_HOME, or
# in a directory of /usr/lib/jvm whose name contains the version.
set -eu
version=$1
shift
eval "home=\${JAVA_${version}_HOME:-}"
for java in ${home:+"$home/bin/java"} /usr/lib/jvm/*[!0-9.]"$version"[!0-9]*/bin/java; do
    [ ! -x "$java" ] || exec "$java" "$@"
done
echo "there is no Java $version in /usr/lib/jvm: install it, or set JAVA_${version}_HOME" >&2
exit 1
