// SPDX-License-Identifier: Apache-2.0

// Package lab turns a program into a subject. It implements the subject protocol
// (docs/protocol.md), and the program implements the cases.
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

	// OneThread locks the work to one thread and reports its ID in the greeting. Set it if the work never waits
	// for another goroutine or for the network. Otherwise the runtime moves work between threads, and
	// benchlab keeps the whole process on the measured core.
	OneThread bool
}

// Open prepares a case: it opens connections, prepares statements, and computes inputs. If it
// fails, it releases its resources.
type Open func(*Opening) (Case, error)

// Case is an open case.
type Case interface {
	// Perform does the operations, from 1 to 2^53, in a loop. This is the measured code. Every call
	// starts with the first input.
	Perform(operations uint64) (Work, error)
	Close() error
}

// Work is the result of a batch.
type Work struct {
	Check     uint64             // the sum of all values that were produced
	Units     uint64             // the amount that was produced, such as rows or bytes
	Latencies *Latencies         // for a case with concurrent operations, else nil
	Metrics   map[string]float64 // metrics of the experiment, finite and less than 10^17
}

// Add adds value to Check and 1 to Units.
func (w *Work) Add(value int64) {
	w.Check += uint64(value)
	w.Units++
}

// Serve sends hello and serves the cases, and the built-in case noop, until quit or the end of the
// input. From this call on, standard output of the program is redirected to standard error, so that
// it cannot corrupt replies.
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

// takeOutput returns standard output, and redirects the program's own output to standard error.
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
