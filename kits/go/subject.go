// SPDX-License-Identifier: Apache-2.0

// Package lab makes a program a subject: it speaks the subject protocol (docs/protocol.md), and the
// program says what its cases do.
package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// Subject is a program under test.
type Subject struct {
	Name    string
	Library string // the driver or library under test, with its version
	Cases   map[string]Open

	// OneThread locks the work to a thread of its own, which hello then names: for work that never
	// waits for another goroutine or for the network. All other work the runtime moves between
	// threads as it likes, and the lab keeps the whole process on the measured core.
	OneThread bool
}

// Open prepares a case: it connects, prepares statements, makes its inputs. It gives back what it
// took if it fails.
type Open func(*Opening) (Case, error)

// Case is an opened case.
type Case interface {
	// Perform does the operations, from 1 to 2^53, in a loop of its own: this is the measured part.
	// Every call begins at the first input.
	Perform(operations uint64) (Work, error)
	Close() error
}

// Work is what a batch yields.
type Work struct {
	Check     uint64             // the sum of every value that was produced
	Units     uint64             // how many they were, as rows or bytes
	Latencies *Latencies         // of a case that does several operations at once, else nil
	Metrics   map[string]float64 // the experiment's own: finite, of less than 10^17
}

// Add adds a value to the check and one to the units.
func (w *Work) Add(value int64) {
	w.Check += uint64(value)
	w.Units++
}

// Serve says hello and serves the cases, and the built-in case noop, until quit or the end of the
// input. What the program prints from here on goes to standard error, so that no reply is torn.
func Serve(subject Subject) {
	replies, err := takeOutput()
	if err == nil {
		err = serve(subject, os.Stdin, replies)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(subject Subject, commands io.Reader, replies io.Writer) error {
	session := &session{subject: subject}
	defer session.end()
	if err := write(replies, hello(subject)); err != nil {
		return err
	}
	for lines := newLineReader(commands); ; {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return err
		}
		answer, quit := session.answer(line, err)
		if quit {
			return nil
		}
		if err := write(replies, answer); err != nil {
			return err
		}
	}
}

func write(replies io.Writer, reply *reply) error {
	_, err := replies.Write(append(reply.line, '\n'))
	return err
}

func hello(subject Subject) *reply {
	thread := 0
	if subject.OneThread {
		runtime.LockOSThread()
		thread = syscall.Gettid()
	}
	return newReply("hello").
		with("protocol", 1).
		with("subject", subject.Name).
		with("thread", thread).
		with("runtime", "Go "+strings.TrimPrefix(runtime.Version(), "go")).
		with("library", subject.Library)
}

// takeOutput returns standard output, and leads what the program itself prints there elsewhere.
func takeOutput() (*os.File, error) {
	replies, err := syscall.Dup(syscall.Stdout)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(replies)
	if err := syscall.Dup3(syscall.Stderr, syscall.Stdout, 0); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(replies), "replies"), nil
}
