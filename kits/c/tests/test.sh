#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sends lines to a subject that uses the kit, and compares the replies. Usage: test.sh SUBJECT.
# Exits with status 1 if a test fails.
set -u

subject=$1
scratch=$subject.test
passed=0
failed=0
hello='@lab hello protocol=1 subject=echo thread=T runtime=C library=no%20library%201.0'
open='open case=echo seed=7 fail_at=0 text=x'
opened='@lab opened text=x more=%28none%29'
no_case='@lab error code=usage message=no%20case%20is%20open'
ran() { echo "@lab ran start=S end=E operations=$1 units=$2 check=$3"; }
not_argument() { echo "@lab error code=usage message=argument%20$1%20is%20not%20key%3Dvalue,%20percent-encoded"; }
not_number() { echo "@lab error code=usage message=$1%20is%20not%20a%20whole%20number%20from%20$2%20to%20$3"; }
missing() { echo "@lab error code=usage message=the%20argument%20$1%20is%20missing"; }
xs() { head -c "$1" /dev/zero | tr '\0' x; }

# Prints the replies without the parts that differ between runs, followed by the exit status if it
# is not 0, as after a sanitizer error.
answers() {
    { "$subject" 2>"$scratch.log" || echo "exit status $?"; } | sed -E '
        s/^(@lab hello .*thread=)[0-9]+( runtime=)(gcc|clang)%20[0-9][^ ]*/\1T\2C/
        s/^(@lab ran )start=[0-9]{5,} end=[0-9]{5,}/\1start=S end=E/'
}

# Compares the replies to the lines on standard input, after hello, with the remaining arguments.
expect() {
    what=$1
    shift
    seen=$(answers)
    wanted=$(printf '%s\n' "$hello" "$@")
    if [ "$seen" = "$wanted" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\nwanted:\n%.1000s\nseen:\n%.1000s\n' "$what" "$wanted" "$seen"
        head -n 20 "$scratch.log"
    fi
}

expect 'hello is sent first' </dev/null

expect 'noop' '@lab opened' '@lab verified operations=1 units=1 check=1' "$(ran 5 5 5)" '@lab closed' <<END
open case=noop seed=7
verify
run operations=5
close
END

# The sums of the sequence's first values, which the Python kit and the Python tests compute, too.
expect 'the sequence restarts in each batch and repeats its 4,096 values' "$opened" \
    '@lab verified operations=1 units=2 check=7191089600892374487' \
    '@lab verified operations=2 units=4 check=7500778973487330291' \
    "$(ran 3 6 5670136646593388021)" \
    "$(ran 4096 8192 17024844806574203696)" \
    "$(ran 4097 8194 5769190333757026567)" <<END
$open
verify
verify operations=2
run operations=3
run operations=4096
run operations=4097
END

expect 'the largest seed' "$opened" '@lab verified operations=1 units=2 check=16490336266968443936' <<END
open case=echo seed=18446744073709551615 fail_at=0 text=x
verify
END

expect 'percent-coding of every byte' \
    '@lab opened text=%01%09%0A%0D%20%22%23%25%26%27%3B%3C%3D%3F%5B%7F%C3%A9%FFAZaz09-._~/:,+ more=' <<END
open case=echo seed=7 fail_at=0 text=%01%09%0a%0d%20%22%23%25%26%27%3b%3c%3d%3f%5b%7f%c3%a9%ff%41Zaz09-._~/:,+ more=
END

expect 'arguments in any order, unknown ones, and the first of two with the same key' \
    '@lab opened text=a more=b' <<END
open more=b unknown=1 text=a fail_at=0 text=c case=echo seed=7
END

expect 'words that are not arguments' "$(not_argument 1)" "$(not_argument 2)" "$(not_argument 1)" \
    "$(not_argument 1)" "$(not_argument 1)" "$(not_argument 1)" "$(not_argument 1)" \
    "$(not_argument 1)" "$(not_argument 1)" "$(not_argument 2)" <<END
open  case=noop
open case=noop%20 seed
open case=%
open case=%4
open case=%4g
open case=%g4
open case=%00
open Case=noop
open 1case=noop
open case=noop seed=a=b
END

expect 'numbers' "$(not_number seed 0 18446744073709551615)" \
    "$(not_number seed 0 18446744073709551615)" "$(not_number seed 0 18446744073709551615)" \
    "$(not_number seed 0 18446744073709551615)" "$(not_number fail_at 0 1000)" <<END
open case=echo text=x fail_at=0 seed=
open case=echo text=x fail_at=0 seed=-1
open case=echo text=x fail_at=0 seed=0x7
open case=echo text=x fail_at=0 seed=18446744073709551616
open case=echo text=x fail_at=1001 seed=7
END

expect 'operations' "$opened" "$(missing operations)" "$(not_number operations 1 9007199254740992)" \
    "$(not_number operations 1 9007199254740992)" "$(not_number operations 1 9007199254740992)" <<END
$open
run
run operations=0
verify operations=0
run operations=9007199254740993
END

expect 'order' "$no_case" "$no_case" "$no_case" "$opened" \
    '@lab error code=usage message=the%20case%20echo%20is%20still%20open' '@lab closed' "$no_case" <<END
verify
run operations=1
close
$open
$open
close
close
END

expect 'missing arguments and cases; resources of open are released' "$(missing case)" "$(missing seed)" \
    '@lab error code=unsupported message=there%20is%20no%20case%20nonsense' "$(missing text)" \
    "$(missing fail_at)" "$opened" <<END
open seed=7
open case=echo
open case=nonsense seed=7
open case=echo seed=7
open case=echo seed=7 text=x
$open
END

expect 'failing work, and recovery' '@lab opened text=x more=%28none%29' \
    '@lab error code=failed message=operation%203%20failed:%20100%20%25' "$(ran 2 4 7500778973487330291)" <<END
open case=echo seed=7 fail_at=3 text=x
run operations=3
run operations=2
END

expect 'unknown commands' '@lab error code=usage message=there%20is%20no%20command%20' \
    '@lab error code=usage message=there%20is%20no%20command%20RUN' <<END

RUN
END

# The table of docs/protocol.md: a value, and the index of its bucket.
while read -r ns index; do
    end=$((ns + 200 > 1100 ? ns + 200 : 1100))
    if [ "$index" -lt 190 ]; then latencies=$index:3,190:3
    elif [ "$index" -eq 190 ]; then latencies=190:6
    else latencies=190:3,$index:3; fi
    expect "the bucket of $ns ns, the first start, the last end, and no latencies for verify" \
        '@lab opened' "@lab ran start=100 end=$end operations=3 units=0 check=1919 latencies=$latencies" \
        '@lab verified operations=1 units=0 check=1919' <<END
open case=latency seed=7 ns=$ns
run operations=3
verify
END
done <<END
63 63
64 64
65 64
66 65
127 95
128 96
1000 190
1000000 509
4294967296 896
END

# The sum of the counts and the order of the indices represent the latencies of workers.
summed() {
    "$subject" 2>"$scratch.log" | awk '/^@lab ran/ {
        n = split(substr($NF, 11), pairs, ","); sum = 0; last = -1; order = "ascending"
        for (i = 1; i <= n; i++) {
            split(pairs[i], pair, ":"); sum += pair[2]
            if (pair[1] + 0 <= last) order = "not ascending"
            last = pair[1] + 0
        }
        print $5, $6, $7, sum, order; next } !/hello/'
}

for threads in 1 2 7 64; do
    seen=$(printf 'open case=workers seed=7 fail_at=0 laps=1 threads=%s\nrun operations=1000\nrun operations=3\nclose\n' \
        $threads | summed)
    wanted=$(printf '@lab opened\n%s\n%s\n@lab closed' \
        'operations=1000 units=1000 check=499500 1000 ascending' \
        'operations=3 units=3 check=3 3 ascending')
    if [ "$seen" = "$wanted" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s workers\nseen:\n%s\n' "$threads" "$seen"
        head -n 20 "$scratch.log"
    fi
done

for _ in $(seq 100); do
    printf 'open case=workers seed=7 fail_at=0 laps=1 threads=16\nclose\n'
done >"$scratch.in"
expect 'workers that are ended before they run an operation' \
    "$(yes '@lab opened
@lab closed' | head -n 200)" <"$scratch.in"

expect 'one worker fails, and the workers continue' '@lab opened' \
    '@lab error code=failed message=operation%205%20failed' \
    '@lab verified operations=4 units=4 check=6' '@lab closed' <<END
open case=workers seed=7 fail_at=5 laps=1 threads=3
run operations=10
verify operations=4
close
END

# Only three of the 64 threads have an operation to do.
expect 'workers without latencies' '@lab opened' "$(ran 1000 1000 499500)" "$(ran 3 3 3)" <<END
open case=workers seed=7 fail_at=0 laps=0 threads=64
run operations=1000
run operations=3
END

expect 'metrics of the latest batch only' \
    '@lab opened setting=longer%20than%20any%20metric%27s%20value,%20and%20than%20several%20of%20them%20together' \
    "$(ran 2 0 0) lost=12.5 none=0 small=-0.0000120000000000000 large=98765432109876544" \
    "$(ran 1 0 0)" '@lab verified operations=2 units=0 check=0' <<END
open case=metrics seed=7
run operations=2
run operations=1
verify operations=2
END

no_operations='@lab error code=unsupported message=the%20case%20server%20is%20a%20server%20and%20has%20no%20operations'
expect 'a server' '@lab opened url=http://127.0.0.1:0' "$no_operations" "$no_operations" '@lab closed' \
    "$(missing workers)" '@lab opened' '@lab verified operations=1 units=1 check=1' <<END
open case=server seed=7 workers=8
verify
run operations=1
close
open case=server seed=7
open case=noop seed=7
verify
END

# Commands are sent after the previous reply; one of them is sent in two pieces.
answered() { until grep -q "$1" "$scratch.out"; do sleep 0.01; done; }
: >"$scratch.out"
seen=$({
    echo 'open case=server seed=7 workers=1'
    answered opened
    printf ver
    sleep 0.05
    echo ify
    answered error
    printf 'close\nopen case=noop seed=7\n'
} | "$subject" 2>&1 >"$scratch.out")
case $seen in
'waited 2 times' | 'waited 3 times') passed=$((passed + 1)) ;;
*)
    failed=$((failed + 1))
    printf 'FAILED: a server serves while the kit waits\nseen:\n%s\n' "$seen"
    ;;
esac

printf 'verify\0\n%s\n' "$open" >"$scratch.in"
expect 'a NUL' '@lab error code=usage message=the%20line%20contains%20a%20NUL' "$opened" <"$scratch.in"

text=$(xs $((65536 - ${#open})))
{ echo "$open$text"; echo "$open${text}x"; xs 200000; printf '\n%s' "$open"; } >"$scratch.in"
too_long='@lab error code=usage message=the%20line%20is%20longer%20than%2065536%20bytes'
expect 'the longest line, longer ones, and a last one without its LF' \
    "@lab opened text=x$text more=%28none%29" "$too_long" "$too_long" \
    '@lab error code=usage message=the%20case%20echo%20is%20still%20open' <"$scratch.in"

name=$(xs 5000)
expect 'a message that is cut at 1,000 bytes' \
    "@lab error code=unsupported message=there%20is%20no%20case%20$(xs 983)" <<END
open seed=7 case=$name
END

expect 'quit, with a case open and more lines after it' "$opened" <<END
$open
quit
verify
END

printf 'c: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
