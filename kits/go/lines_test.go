// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"io"
	"maps"
	"strings"
	"testing"
)

const tooLong = "\x00too long" // represents errTooLong

func TestLinesAreCut(t *testing.T) {
	long := strings.Repeat("x", lineMax)
	for _, test := range []struct {
		input string
		lines []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a\r\n\nb", []string{"a\r", "", "b"}},
		{long + "\na\n", []string{long, "a"}},
		{long + "x\na\n", []string{tooLong, "a"}},
		{strings.Repeat(long, 5) + "\na\n", []string{tooLong, "a"}},
		{long, []string{long}},
		{long + "x", []string{tooLong}},
		{long + long + "x\n", []string{tooLong}},
	} {
		reader := newLineReader(strings.NewReader(test.input))
		for i, expected := range test.lines {
			line, err := reader.next()
			if err == errTooLong {
				line = tooLong
			} else if err != nil {
				t.Fatalf("line %d of %.20q…: %v", i, test.input, err)
			}
			if line != expected {
				t.Errorf("line %d of %.20q… is %.20q…", i, test.input, line)
			}
		}
		if line, err := reader.next(); err != io.EOF {
			t.Errorf("after %.20q… comes %.20q…, %v", test.input, line, err)
		}
	}
}

func TestParseDecodesValuesAndKeepsTheFirstOfAKey(t *testing.T) {
	verb, found, err := parse("open a=%41%2b+ b_1= a=2 c=%c3%A9%ff")
	expected := arguments{"a": "A++", "b_1": "", "c": "é\xff"}
	if err != nil || verb != "open" || !maps.Equal(found, expected) {
		t.Errorf("%q %q, %v", verb, found, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, line := range []string{
		"open a", "open  a=1", "open =1", "open A=1", "open 1a=1", "open _a=1", "open a=%", "open a=%4",
		"open a=%zz", "open a=%4z", "open a=b=c", "open a=\xff", "open a=²", "open a=1\r", "open é=1",
		"open a=1 ",
	} {
		if _, _, err := parse(line); err == nil || code(err) != "usage" {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestAReplyIsReadBackAsItWasWritten(t *testing.T) {
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	reply := newReply("opened").with("a", string(bytes[:])).with("b", 7)
	verb, found, err := parse(strings.TrimPrefix(string(reply.line), "@lab "))
	expected := arguments{"a": string(bytes[:]), "b": "7"}
	if err != nil || verb != "opened" || !maps.Equal(found, expected) {
		t.Errorf("%q %q, %v", verb, found, err)
	}
}

func TestAReplyEncodesInUpperCaseWhatDoesNotStandForItself(t *testing.T) {
	reply := newReply("opened").with("a", "aZ09-._~/:,+ %=ü")
	if line := string(reply.line); line != "@lab opened a=aZ09-._~/:,+%20%25%3D%C3%BC" {
		t.Error(line)
	}
}

func TestIntegers(t *testing.T) {
	for _, text := range []string{
		"", "-1", "+1", " 1", "1_0", "0x1", "1.0", "4", "11", "١", strings.Repeat("9", 5000),
	} {
		if value, err := (arguments{"n": text}).integer("n", 5, 10); err == nil || code(err) != "usage" {
			t.Errorf("%q is %d, %v", text, value, err)
		}
	}
	for text, expected := range map[string]uint64{"5": 5, "10": 10, "007": 7} {
		if value, err := (arguments{"n": text}).integer("n", 5, 10); err != nil || value != expected {
			t.Errorf("%q is %d, %v", text, value, err)
		}
	}
	if _, err := (arguments{}).integer("n", 5, 10); err == nil || err.Error() != "the argument n is missing" {
		t.Error(err)
	}
}

// A parsed command can be written as a reply and parsed again with the same result, and an invalid
// line only causes usage errors.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"", " ", "open case=noop seed=7", "open a=%41%2b+ b_1= a=2 c=%c3%A9%ff", "run operations=%", "a b=c=d",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		verb, found, err := parse(line)
		if err != nil {
			if code(err) != "usage" {
				t.Error(err)
			}
			return
		}
		reply := newReply("x")
		for key, value := range found {
			reply.with(key, value)
		}
		written := strings.Replace(string(reply.line), "@lab x", verb, 1)
		again, foundAgain, err := parse(written)
		if err != nil || again != verb || !maps.Equal(found, foundAgain) {
			t.Errorf("%q was written as %q: %q %q, %v", line, written, again, foundAgain, err)
		}
	})
}
