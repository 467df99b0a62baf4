// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	operationsMax = 1 << 53
	messageMax    = 1000
	unknownMax    = 40
)

// session executes commands on the open case, if there is one.
type session struct {
	subject Subject
	current Case // nil if none is open
}

// answer executes a command and returns the reply. quit is true after the last command.
func (s *session) answer(line string, err error) (answer *reply, quit bool) {
	var verb string
	var arguments arguments
	if err == nil {
		verb, arguments, err = parse(line)
	}
	if err == nil {
		if verb == "quit" {
			return nil, true
		}
		answer, err = s.carryOut(verb, arguments)
	}
	if err != nil {
		return failure(err), false
	}
	return answer, false
}

func (s *session) carryOut(verb string, arguments arguments) (*reply, error) {
	switch verb {
	case "open":
		return s.open(arguments)
	case "verify":
		return s.verify(arguments)
	case "run":
		return s.run(arguments)
	case "close":
		return s.close()
	}
	return nil, usage("there is no command %s", head(verb, unknownMax))
}

func (s *session) open(arguments arguments) (*reply, error) {
	if s.current != nil {
		return nil, usage("a case is already open")
	}
	name, err := arguments.text("case")
	if err != nil {
		return nil, err
	}
	opening, err := NewOpening(arguments)
	if err != nil {
		return nil, err
	}
	open, ok := s.subject.Cases[name]
	if name == "noop" {
		open, ok = openNoop, true
	}
	if !ok {
		return nil, Unsupported("there is no case %s", name)
	}
	if !s.subject.OneThread {
		// benchlab pinned the process to its cores after the program had started. The runtime would
		// notice this by itself, but only during the measurement.
		runtime.SetDefaultGOMAXPROCS()
	}
	current, err := open(opening)
	if err != nil {
		return nil, err
	}
	s.current = current
	return opening.reply, nil
}

func (s *session) verify(arguments arguments) (*reply, error) {
	if _, ok := arguments["operations"]; !ok {
		arguments["operations"] = "1"
	}
	operations, err := s.operations(arguments)
	if err != nil {
		return nil, err
	}
	work, err := s.current.Perform(operations)
	if err != nil {
		return nil, err
	}
	return newReply("verified").
		with("check", work.Check).
		with("operations", operations).
		with("units", work.Units), nil
}

func (s *session) run(arguments arguments) (*reply, error) {
	operations, err := s.operations(arguments)
	if err != nil {
		return nil, err
	}
	var before, after runtime.MemStats
	counts := arguments["count"] == "allocations"
	if counts {
		runtime.ReadMemStats(&before)
	}
	start := monotonic()
	work, err := s.current.Perform(operations)
	end := monotonic()
	if err != nil {
		return nil, err
	}
	if counts {
		// These counts are exact, unlike the counts of runtime/metrics, which counts an allocation only when
		// its span is full.
		runtime.ReadMemStats(&after)
	}
	if work.Latencies != nil {
		start, end = work.Latencies.start, work.Latencies.last
	}
	ran := newReply("ran").
		with("start", start).
		with("end", end).
		with("operations", operations).
		with("units", work.Units).
		with("check", work.Check)
	if work.Latencies != nil && work.Latencies.String() != "" {
		ran.with("latencies", work.Latencies)
	}
	for _, metric := range slices.Sorted(maps.Keys(work.Metrics)) {
		ran.with(metric, strconv.FormatFloat(work.Metrics[metric], 'f', -1, 64))
	}
	if counts {
		ran.with("allocations", after.Mallocs-before.Mallocs).
			with("allocated_bytes", after.TotalAlloc-before.TotalAlloc)
	}
	return ran, nil
}

func (s *session) close() (*reply, error) {
	if s.current == nil {
		return nil, errNoCase
	}
	current := s.current
	s.current = nil
	if err := current.Close(); err != nil {
		return nil, err
	}
	return newReply("closed"), nil
}

// end closes the case if it is still open.
func (s *session) end() {
	if _, err := s.close(); err != nil && !errors.Is(err, errNoCase) {
		fmt.Fprintln(os.Stderr, err)
	}
}

var errNoCase = usage("no case is open")

// operations returns the argument operations; the commands that have it require an open case.
func (s *session) operations(arguments arguments) (uint64, error) {
	if s.current == nil {
		return 0, errNoCase
	}
	return arguments.integer("operations", 1, operationsMax)
}

func failure(err error) *reply {
	return newReply("error").
		with("code", code(err)).
		with("message", head(err.Error(), messageMax))
}

// head returns the first bytes of a text without splitting a character.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// -- The built-in case -------------------------------------------------------------------------

type noop struct{}

func openNoop(*Opening) (Case, error) { return noop{}, nil }

func (noop) Perform(operations uint64) (Work, error) {
	return Work{Check: operations, Units: operations}, nil
}

func (noop) Close() error { return nil }
