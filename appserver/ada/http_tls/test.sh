#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
#
# Builds the example in the README of the crate in the current directory, runs it, and compares its output with the output in the
# README. An example without output is only built. Each crate has this script as test.sh, which `alr test` runs.
#
# "alr with" in the README names the crates that the example needs. If some of these crates are not dependencies of the crate, and
# GPR_PROJECT_PATH does not contain them, the script builds only the crate.
set -eu
# alr 1.2 does not always set the project path of an action; alr exec does.
if [ -d alire ] && [ -z "${ALIRE-}" ]; then exec alr -n exec -- sh test.sh; fi
project=$(ls appserver*.gpr)
output=${APPSERVER_OUTPUT:-$PWD/obj/}readme/${project%.gpr}

# Prints the lines of the code blocks in a language.
code() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/ { /^\`\`\`/ !p }" README.md; }

is_known() (
    folders=$PWD:${GPR_PROJECT_PATH-}
    IFS=:
    for folder in $folders; do
        [ ! -e "$folder/$1.gpr" ] || exit 0
    done
    exit 1
)

needed=$(code sh | sed -n 's/^alr with //p')
for crate in $needed; do
    if ! is_known "$crate"; then
        echo "$project: the example needs $crate, which is not a dependency: built without it"
        exec gprbuild -q -p -j0 -P "$project"
    fi
done

rm -rf "$output"
mkdir -p "$output/src"
code ada >"$output/readme.ada"
gnatchop -gnat2022 -gnatW8 -q -w "$output/readme.ada" "$output/src"
mains=
for body in "$output"/src/*.adb; do
    [ -e "${body%b}s" ] || mains="$mains${mains:+, }\"$(basename "$body")\""
done
{
    for crate in $needed; do echo "with \"$crate\";"; done
    cat <<END
project Readme is
   for Source_Dirs use ("src");
   for Object_Dir use "obj";
   for Exec_Dir use ".";
   for Create_Missing_Dirs use "True";
   for Main use ($mains);
   package Compiler is
      for Default_Switches ("Ada") use ("-gnat2022", "-gnatW8", "-gnatwa", "-g", "-fstack-check");
   end Compiler;
end Readme;
END
} >"$output/readme.gpr"
gprbuild -q -p -j0 -aP "$PWD" -P "$output/readme.gpr"

code text >"$output/expected.txt"
if [ -s "$output/expected.txt" ]; then
    cd "$output"
    "./$(echo "$mains" | tr -d '"' | sed 's/\.adb$//')" | diff expected.txt -
    echo "$project: the example printed what the README shows"
else
    echo "$project: the example was built"
fi
