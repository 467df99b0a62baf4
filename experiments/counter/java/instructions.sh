#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the machine code of each increment loop, as compiled by the JIT, to
# build/counter/java/instructions.txt. It runs the subject, and the JVM prints the code. On processors other
# than x86-64 it writes the bytecode.
set -eu
cd "$(dirname "$0")/../../.."
out=build/counter/java
code=$out/loop.bin

# Enough operations for the JIT to compile the method itself after its loop.
conversation() {
    echo "open case=$1 scheme=$2 threads=1 seed=7"
    for operations in 200000 200000 200000 2000000 2000000 2000000; do
        echo "run operations=$operations"
    done
}

# Prints the bytes of the last printed method as hexadecimal digits.
last_method() {
    awk '
        /^\[MachCode\]/ { inside = 1; digits = "" }
        /^\[\/MachCode\]/ { inside = 0 }
        inside && /^ *0x[0-9a-f]+: [0-9a-f]/ {
            sub(/^ *0x[0-9a-f]+: /, "")
            gsub(/[^0-9a-f]/, "")
            digits = digits $0
        }
        END { print digits }'
}

compiled() {
    conversation "$1" "$2" |
        java -Xbatch -XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions -XX:+DisplayVMOutputToStderr \
            -XX:CompileCommand=quiet "-XX:CompileCommand=print,benchlab.counter.$3::increments" \
            -cp "$out/classes:$out/lib/*" benchlab.counter.CounterSubject 2>&1 >"$out/replies.txt" |
        last_method | perl -ne 'chomp; print pack("H*", $_)' >"$code"
    objdump -D -b binary -m i386:x86-64 --no-show-raw-insn "$code" |
        awk -v scheme="$2" -v wanted="$4" -f experiments/counter/loop.awk
}

bytecode() {
    echo "$2: (bytecode)"
    javap -c -p -cp "$out/classes" "benchlab.counter.$3" |
        awk '/ increments\(/ { inside = 1; next } inside && /^$/ { exit } inside && /^ +[0-9]+:/'
}

if [ "$(uname -m)" = x86_64 ]; then show=compiled; else show=bytecode; fi
{
    $show increment unsafe UnsafeCounter '^add '
    $show increment unsafe_plain UnsafePlainCounter '^add '
    $show increment atomic AtomicScheme 'lock xadd'
    $show increment lock LockScheme 'lock cmpxchg'
    $show increment striped StripedScheme 'lock cmpxchg'
    $show side_by_side side_by_side SideBySide '^add '
} >"$out/instructions.txt"
rm -f "$code" "$out/replies.txt"
