// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	openEcho = "open case=echo seed=7 fail_at=0 text=x"
	opened   = "@lab opened text=x"
)

// echo is the path of the compiled program internal/echo.
var echo string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "echo")
	if err != nil {
		panic(err)
	}
	echo = filepath.Join(folder, "echo")
	out, err := exec.Command("go", "build", "-o", echo, "./internal/echo").CombinedOutput()
	if err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// talk returns the hello, the replies and the log of internal/echo, which must exit successfully.
func talk(t *testing.T, commands ...string) (hello string, replies []string, log string) {
	t.Helper()
	return talkTo(t, exec.Command(echo), commands...)
}

func talkTo(t *testing.T, program *exec.Cmd, commands ...string) (hello string, replies []string, log string) {
	t.Helper()
	var output, errors bytes.Buffer
	program.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	program.Stdout, program.Stderr = &output, &errors
	if err := program.Run(); err != nil {
		t.Fatal(err, errors.String())
	}
	lines := strings.Split(strings.TrimSuffix(output.String(), "\n"), "\n")
	return lines[0], lines[1:], errors.String()
}

func failed(code, message string) string {
	return fmt.Sprintf("@lab error code=%s message=%s", code, strings.ReplaceAll(message, " ", "%20"))
}

func expect(t *testing.T, replies []string, expected ...string) {
	t.Helper()
	if !slices.Equal(replies, expected) {
		t.Errorf("replies:\n%s\nexpected:\n%s", strings.Join(replies, "\n"), strings.Join(expected, "\n"))
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Error(err)
	}
	return value
}

func TestHello(t *testing.T) {
	const rest = ` runtime=Go%201\.[0-9.]+ library=no%20library%201\.0$`
	hello, _, _ := talkTo(t, exec.Command(echo))
	if !regexp.MustCompile(`^@lab hello protocol=1 subject=echo thread=0` + rest).MatchString(hello) {
		t.Error(hello)
	}
	hello, _, _ = talkTo(t, exec.Command(echo, "one thread"))
	if !regexp.MustCompile(`^@lab hello protocol=1 subject=echo thread=[1-9][0-9]*` + rest).MatchString(hello) {
		t.Error(hello)
	}
}

func TestAConversation(t *testing.T) {
	before := kernelMonotonic()
	_, replies, log := talk(t, openEcho, "verify", "verify operations=2", "run operations=4097", "close",
		"quit", "verify")
	after := kernelMonotonic()
	if len(replies) != 5 {
		t.Fatal(replies)
	}
	ran := regexp.MustCompile(`^@lab ran start=(\d+) end=(\d+) operations=4097 units=8194 ` +
		`check=5769190333757026567$`).FindStringSubmatch(replies[3])
	if ran == nil {
		t.Fatal(replies[3])
	}
	if start, end := number(t, ran[1]), number(t, ran[2]); !(before < start && start < end && end < after) {
		t.Error(before, start, end, after)
	}
	expect(t, slices.Delete(replies, 3, 4), opened,
		"@lab verified check=7191089600892374487 operations=1 units=2",
		"@lab verified check=7500778973487330291 operations=2 units=4",
		"@lab closed")
	if strings.Count(log, "@lab torn") != 6 {
		t.Error("the output of a case is missing in the log:", log)
	}
}

func TestNoop(t *testing.T) {
	_, replies, _ := talk(t, "open case=noop seed=7", "verify operations=9007199254740992")
	expect(t, replies, "@lab opened",
		"@lab verified check=9007199254740992 operations=9007199254740992 units=9007199254740992")
}

func TestWorkersShareTheOperations(t *testing.T) {
	_, replies, _ := talk(t, "open case=count workers=3 laps=1 seed=7", "verify operations=2",
		"run operations=100", "run operations=100", "close", "open case=count workers=64 laps=1 seed=7",
		"run operations=10", "quit")
	if len(replies) != 7 {
		t.Fatal(replies)
	}
	for _, test := range []struct {
		reply      string
		operations int64
	}{{replies[2], 100}, {replies[3], 100}, {replies[6], 10}} {
		ran := regexp.MustCompile(`^@lab ran start=(\d+) end=(\d+) operations=(\d+) units=(\d+) ` +
			`check=(\d+) latencies=([0-9:,]+)$`).FindStringSubmatch(test.reply)
		if ran == nil {
			t.Fatal(test.reply)
		}
		var count int64
		for bucket := range strings.SplitSeq(ran[6], ",") {
			_, n, _ := strings.Cut(bucket, ":")
			count += number(t, n)
		}
		n := test.operations
		if number(t, ran[1]) >= number(t, ran[2]) || number(t, ran[3]) != n || number(t, ran[4]) != n ||
			number(t, ran[5]) != n*(n-1)/2 || count != n {
			t.Error(test.reply)
		}
	}
}

func TestWorkersWithoutLapsTellNoLatencies(t *testing.T) {
	before := kernelMonotonic()
	_, replies, _ := talk(t, "open case=count workers=16 laps=0 seed=7", "run operations=3")
	after := kernelMonotonic()
	ran := regexp.MustCompile(`^@lab ran start=(\d+) end=(\d+) operations=3 units=3 check=3$`).
		FindStringSubmatch(replies[1])
	if ran == nil {
		t.Fatal(replies[1])
	}
	if start, end := number(t, ran[1]), number(t, ran[2]); !(before < start && start < end && end < after) {
		t.Error(before, start, end, after)
	}
}

func TestMetricsAreDecimalNumbersOfARun(t *testing.T) {
	_, replies, _ := talk(t, "open case=measure seed=7", "run operations=3", "verify operations=3")
	const metrics = " check=3 large=98765432109876540 lost=33.333333333333336 none=0 small=-0.000012"
	if !strings.HasSuffix(replies[1], metrics) {
		t.Error(replies[1])
	}
	expect(t, replies[2:], "@lab verified check=3 operations=3 units=3")
}

func TestARunTellsWhatItAllocatesIfAsked(t *testing.T) {
	_, replies, _ := talk(t, "open case=noop seed=7", "run operations=5 count=allocations", "run operations=5")
	allocations := regexp.MustCompile(` allocations=[0-9]+ allocated_bytes=[0-9]+$`)
	if !allocations.MatchString(replies[1]) || strings.Contains(replies[2], "alloc") {
		t.Error(replies)
	}
}

func TestAServerDoesNoOperations(t *testing.T) {
	_, replies, log := talk(t, "open case=server seed=7", "verify", "run operations=1", "close", "verify")
	refused := failed("unsupported", "the case is a server and has no operations")
	expect(t, replies, "@lab opened url=http://127.0.0.1:0", refused, refused, "@lab closed",
		failed("usage", "no case is open"))
	if strings.Count(log, "the server was closed") != 1 {
		t.Error(log)
	}
}

func TestFailedWorkIsReportedAndTheCaseStaysOpen(t *testing.T) {
	_, replies, _ := talk(t, strings.Replace(openEcho, "fail_at=0", "fail_at=2", 1), "verify operations=2",
		"run operations=2", "verify")
	expect(t, replies, opened, failed("failed", "operation 2 failed"), failed("failed", "operation 2 failed"),
		"@lab verified check=7191089600892374487 operations=1 units=2")
}

func TestACaseIsClosedWhateverEndsIt(t *testing.T) {
	for _, end := range []string{"close", "quit", ""} {
		if _, _, log := talk(t, openEcho, end); strings.Count(log, "echo was closed") != 1 {
			t.Errorf("%q: %s", end, log)
		}
	}
}

func TestAFailedOpenLeavesNothingOpen(t *testing.T) {
	_, replies, _ := talk(t, strings.Replace(openEcho, "text=x", "text=unsupported", 1), "verify",
		strings.Replace(openEcho, "text=x", "", 1), "open case=echo seed=7 text=x", openEcho)
	expect(t, replies, failed("unsupported", "this text is not supported"), failed("usage", "no case is open"),
		failed("usage", "argument 4 is not key%3Dvalue, percent-encoded"),
		failed("usage", "the argument fail_at is missing"), opened)
}

func TestErrors(t *testing.T) {
	noCase := failed("usage", "no case is open")
	for _, test := range []struct{ commands, expected []string }{
		{[]string{"", "Run", strings.Repeat("é", 30)}, []string{
			failed("usage", "there is no command "), failed("usage", "there is no command Run"),
			failed("usage", "there is no command "+strings.Repeat("%C3%A9", 20))}},
		{[]string{"verify", "run operations=1", "close"}, []string{noCase, noCase, noCase}},
		{[]string{"open seed=7"}, []string{failed("usage", "the argument case is missing")}},
		{[]string{"open case=nonsense seed=7"}, []string{failed("unsupported", "there is no case nonsense")}},
		{[]string{openEcho, openEcho}, []string{opened, failed("usage", "a case is already open")}},
		{[]string{openEcho, "run"}, []string{opened, failed("usage", "the argument operations is missing")}},
		{[]string{openEcho, "run operations=0"}, []string{
			opened, failed("usage", "operations is not a whole number from 1 to 9007199254740992")}},
		{[]string{strings.Repeat("x", lineMax+1)}, []string{
			failed("usage", "the line is longer than 65536 bytes")}},
		{[]string{"open seed=7 case=" + strings.Repeat("x", 5000)}, []string{
			failed("unsupported", "there is no case "+strings.Repeat("x", 983))}},
	} {
		_, replies, _ := talkTo(t, exec.Command(echo), test.commands...)
		expect(t, replies, test.expected...)
	}
}
