# SPDX-License-Identifier: Apache-2.0
# Prints the innermost loop of a function in the output of objdump: the code between the shortest backward jump
# and its target. Prints a function without a loop as a whole. Variables: scheme, and wanted, a pattern that the
# loop must contain.

/^ *[0-9a-f]+:\t/ {
    address = $1
    sub(/:/, "", address)
    at[address] = ++count
    target = $3
    sub(/^0x/, "", target)
    text[count] = $0
    sub(/^ *[0-9a-f]+:\t/, "", text[count])
    if ($2 ~ /^j/) {
        sub(/ <.*/, "", text[count])
        if (target in at)
            consider(at[target], count)
    }
}

function consider(from, to,    i) {
    if (last && to - from >= last - first)
        return
    for (i = from; i <= to; i++)
        if (text[i] ~ wanted) {
            first = from
            last = to
            return
        }
}

END {
    print scheme ":" (last ? "" : " no loop, because the compiler hoisted the increments out of it")
    for (i = last ? first : 1; i <= (last ? last : count); i++)
        if (text[i] !~ /^(nop|data16|cs nop|xchg +%ax,%ax|int3)/)
            print "    " text[i]
}
