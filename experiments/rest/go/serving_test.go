// SPDX-License-Identifier: Apache-2.0

// The subject is built, driven as the lab does it, and asked over real connections.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const greetingText = `{"greeting":"Hello World!"}`

// subject is a running program that serves.
type subject struct {
	commands io.Writer
	replies  *bufio.Scanner
	url      string
}

// start builds the program and runs it until the end of the test, when it must end well.
func start(t *testing.T, folder string) *subject {
	program := filepath.Join(t.TempDir(), "subject")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
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
	running := &subject{commands: commands, replies: bufio.NewScanner(replies)}
	running.replies.Scan()
	opened := running.ask(t, "open case=serve workers=8 seed=7 files="+folder)
	found := regexp.MustCompile(`^@lab opened url=(http://127\.0\.0\.1:\d+) workers=0 loops=[1-9]\d*$`).
		FindStringSubmatch(opened)
	if found == nil {
		t.Fatal(opened)
	}
	running.url = found[1]
	return running
}

func (s *subject) ask(t *testing.T, command string) string {
	t.Helper()
	if _, err := fmt.Fprintln(s.commands, command); err != nil {
		t.Fatal(err)
	}
	if !s.replies.Scan() {
		t.Fatal("the subject ended", s.replies.Err())
	}
	return s.replies.Text()
}

// request asks without following redirections, and returns the answer with its body.
func (s *subject) request(t *testing.T, method, target, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, s.url+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func value(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Error(text, err)
	}
	return value
}

func TestServing(t *testing.T) {
	folder := t.TempDir()
	content := bytes.Repeat([]byte("\x00\xff16 bytes of it.."), 4096)[:65536]
	if err := os.WriteFile(filepath.Join(folder, "64k.bin"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	order, err := os.ReadFile("../order.json")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, folder)
	t.Run("answers", func(t *testing.T) { testAnswers(t, s, string(order)) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, s, string(order)) })
	t.Run("methods", func(t *testing.T) { testMethods(t, s) })
	t.Run("files", func(t *testing.T) { testFiles(t, s, string(content)) })
	t.Run("pieces", func(t *testing.T) { testPieces(t, s) })
	t.Run("commands", func(t *testing.T) { testCommands(t, s) })
}

func testAnswers(t *testing.T, s *subject, order string) {
	for _, test := range []struct{ method, target, body, expected string }{
		{"GET", "/api/built?number=0", "", `{"greeting":"Hello World!","number":0}`},
		{"GET", "/api/built?number=999999", "", `{"greeting":"Hello World!","number":999999}`},
		{"GET", "/api/hello/O'Neil%20%22X%22", "", `{"greeting":"Hello O'Neil \"X\"!"}`},
		{"GET", "/api/hello/" + strings.Repeat("a", 32), "", `{"greeting":"Hello ` + strings.Repeat("a", 32) + `!"}`},
		{"POST", "/api/echo", order, order},
		{"POST", "/api/echo", order + strings.Repeat(" ", echoMax-len(order)), order},
	} {
		answer, text := s.request(t, test.method, test.target, test.body)
		if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "application/json" ||
			!reflect.DeepEqual(value(t, text), value(t, test.expected)) {
			t.Error(test.target, answer, text)
		}
	}
	if answer, text := s.request(t, "GET", "/api", ""); text != greetingText || answer.Header.Get("Date") == "" {
		t.Error(answer, text)
	}
}

func testRefusals(t *testing.T, s *subject, order string) {
	for _, test := range []struct {
		status       int
		target, body string
	}{
		{400, "/api/built", ""}, {400, "/api/built?number=", ""}, {400, "/api/built?number=-1", ""},
		{400, "/api/built?number=1000000", ""}, {400, "/api/built?number=x", ""},
		{400, "/api/hello/" + strings.Repeat("a", 33), ""}, {400, "/api/hello/%C3%A9", ""},
		{400, "/api/hello/a%2Fb", ""}, {400, "/api/hello/a%0A", ""},
		{404, "/", ""}, {404, "/api/", ""}, {404, "/api/hello/", ""}, {404, "/api/hello/a/b", ""},
		{404, "/files/", ""}, {404, "/files/nothing", ""}, {404, "/files/..%2F..%2Fetc%2Fpasswd", ""},
		{400, "/api/echo", "{"}, {400, "/api/echo", "[1, 2"}, {400, "/api/echo", order + "x"},
		{413, "/api/echo", order + strings.Repeat(" ", echoMax)},
	} {
		method := "GET"
		if test.body != "" {
			method = "POST"
		}
		if answer, _ := s.request(t, method, test.target, test.body); answer.StatusCode != test.status {
			t.Errorf("%s %.20q: %s", test.target, test.body, answer.Status)
		}
	}
}

func testMethods(t *testing.T, s *subject) {
	for _, target := range []string{"/api", "/api/built?number=1", "/api/hello/Ada", "/files/64k.bin"} {
		head, none := s.request(t, "HEAD", target, "")
		got, _ := s.request(t, "GET", target, "")
		head.Header.Del("Date")
		got.Header.Del("Date")
		if head.StatusCode != 200 || none != "" || !reflect.DeepEqual(head.Header, got.Header) {
			t.Error(target, head.Header, got.Header)
		}
		answer, _ := s.request(t, "DELETE", target, "")
		if answer.StatusCode != 405 || answer.Header.Get("Allow") != "GET, HEAD" {
			t.Error(target, answer)
		}
	}
	if answer, _ := s.request(t, "GET", "/api/echo", ""); answer.StatusCode != 405 ||
		answer.Header.Get("Allow") != "POST" {
		t.Error(answer)
	}
}

func testFiles(t *testing.T, s *subject, content string) {
	answer, text := s.request(t, "GET", "/files/64k.bin", "")
	if text != content || answer.Header.Get("Content-Type") != "application/octet-stream" {
		t.Error(answer, len(text))
	}
}

// testPieces sends two requests at once, the first byte by byte.
func testPieces(t *testing.T, s *subject) {
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	request := "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for i := range request {
		connection.Write([]byte{request[i]})
	}
	io.WriteString(connection, strings.Repeat(request, 2))
	answers := bufio.NewReader(connection)
	for range 3 {
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != greetingText {
			t.Error(answer, string(text), err)
		}
	}
}

func testCommands(t *testing.T, s *subject) {
	for _, command := range []string{"verify", "run operations=1"} {
		if reply := s.ask(t, command); !strings.HasPrefix(reply, "@lab error code=unsupported ") {
			t.Error(reply)
		}
	}
	if reply := s.ask(t, "close"); reply != "@lab closed" {
		t.Error(reply)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://")); err == nil {
		t.Error("the port is still taken")
	}
	if reply := s.ask(t, "open case=serve workers=8 seed=7"); !strings.HasPrefix(reply, "@lab error code=usage ") {
		t.Error(reply)
	}
	reply := s.ask(t, "open case=serve workers=8 seed=7 files=/none")
	if !strings.HasPrefix(reply, "@lab error code=failed ") {
		t.Error(reply)
	}
}
