#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the driver of the subject java-system: the driver of the subject java, linked with this machine's
# libsqlite3. Needs the JDK, Maven, gcc and libsqlite3-dev; run it in the project's directory.
set -eu

out=build/sql/java-system
rm -rf "$out"
mvn -q -B -DskipTests -Psystem-sqlite -pl experiments/sql/java -am package

# The driver's native half is one C file. Its header is generated from the Java half, as in the driver's own
# build.
jdk=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
javac -proc:none -implicit:none -nowarn -cp "$out/driver" -d "$out/source" -h "$out/source" \
    "$out/source/org/sqlite/core/NativeDB.java"
mv "$out/source/org_sqlite_core_NativeDB.h" "$out/source/NativeDB.h"
gcc -O2 -fPIC -shared -I "$out/source" -I "$jdk/include" -I "$jdk/include/linux" \
    -o "$out/libsqlitejdbc.so" "$out/source/org/sqlite/core/NativeDB.c" -Wl,--no-undefined -lsqlite3
rm -r "$out/source"
