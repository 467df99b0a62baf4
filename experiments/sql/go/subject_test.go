// SPDX-License-Identifier: Apache-2.0

package sql_test

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// subject is a running program.
type subject struct {
	commands io.Writer
	replies  *bufio.Scanner
}

// start builds a target's program and runs it until the end of the test, when it must end well.
func start(t *testing.T, name string) *subject {
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-o", program, "./"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := exec.Command(program)
	commands, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	replies, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		commands.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	running := &subject{commands, bufio.NewScanner(replies)}
	if hello := running.reply(t); !strings.HasPrefix(hello, "hello protocol=1 subject=go ") {
		t.Fatal(hello)
	}
	return running
}

func (s *subject) ask(t *testing.T, command string) string {
	t.Helper()
	if _, err := fmt.Fprintln(s.commands, command); err != nil {
		t.Fatal(err)
	}
	return s.reply(t)
}

func (s *subject) reply(t *testing.T) string {
	t.Helper()
	if !s.replies.Scan() {
		t.Fatal("the subject ended", s.replies.Err())
	}
	return strings.TrimPrefix(s.replies.Text(), "@lab ")
}

// open returns the command with what the lab adds to a case's own arguments. Those come first, and
// the first with a key counts.
func (t target) open(arguments string) string {
	encode := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	return fmt.Sprintf("open %s rows=%d table=%s settings=%s target=%s seed=7",
		arguments, rows, encode(t.simple), encode(t.settings), encode(t.uri))
}

// reply holds a reply's arguments.
type reply map[string]string

func fields(line string) reply {
	found := reply{}
	for _, word := range strings.Fields(line)[1:] {
		key, value, _ := strings.Cut(word, "=")
		found[key] = value
	}
	return found
}

func (r reply) result() string { return fmt.Sprintf("check=%s units=%s", r["check"], r["units"]) }
