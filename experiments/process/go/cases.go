// SPDX-License-Identifier: Apache-2.0

package main

import (
	"benchlab/lab"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

const (
	killAfter = 5 * time.Millisecond
	deadlock  = 50 * time.Millisecond
)

// statusOf returns the exit code, or 256 + the signal.
func statusOf(command *exec.Cmd) uint64 {
	status := command.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 256 + uint64(status.Signal())
	}
	return uint64(status.ExitStatus())
}

func start(*lab.Opening) (operation, func() error, error) {
	outcome := hashOf(nil)
	return func(work *lab.Work) error {
		command := exec.Command("/bin/true")
		if err := command.Run(); err != nil {
			return err
		}
		work.Check += outcome + statusOf(command)
		work.Units++
		return nil
	}, nil, nil
}

func fail(*lab.Opening) (operation, func() error, error) {
	return func(work *lab.Work) error {
		if err := exec.Command("/bin/no-such-program").Run(); !errors.Is(err, fs.ErrNotExist) {
			return errors.New("a program that does not exist was started")
		}
		work.Check++
		work.Units++
		return nil
	}, nil, nil
}

func read(opening *lab.Opening) (operation, func() error, error) {
	content, err := contentOf(opening)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.CreateTemp("", "benchlab-")
	if err != nil {
		return nil, nil, err
	}
	// The file's name is removed immediately, so that no file remains however this program exits.
	_, err = file.Write(content)
	if err = errors.Join(err, os.Remove(file.Name())); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
	outcome := hashOf(content)
	first := make([]byte, 64<<10)
	return func(work *lab.Work) error {
		before := time.Now()
		command := exec.Command("/bin/cat", path)
		stdout, err := command.StdoutPipe()
		if err != nil {
			return err
		}
		if err := command.Start(); err != nil {
			return err
		}
		count, err := stdout.Read(first)
		work.Metrics["first_byte"] += float64(time.Since(before))
		if err != nil {
			return errors.Join(err, command.Wait())
		}
		output := bytes.NewBuffer(first[:count:count])
		_, err = output.ReadFrom(stdout)
		if err = errors.Join(err, command.Wait(), expect(output.Bytes(), content)); err != nil {
			return err
		}
		work.Check += outcome + statusOf(command)
		work.Units += uint64(output.Len())
		return nil
	}, file.Close, nil
}

func converse(opening *lab.Opening) (operation, func() error, error) {
	count, err := opening.Integer("lines", 1, 10_000)
	if err != nil {
		return nil, nil, err
	}
	lines := make([][]byte, count)
	for i := range lines {
		lines[i] = append(strconv.AppendUint(nil, opening.Inputs[i%lab.Inputs], 10), '\n')
	}
	outcome := hashOf(bytes.Join(lines, nil))
	return func(work *lab.Work) error {
		command := exec.Command("/bin/cat")
		stdin, err := command.StdinPipe()
		if err != nil {
			return err
		}
		stdout, err := command.StdoutPipe()
		if err != nil {
			return err
		}
		if err := command.Start(); err != nil {
			return err
		}
		err = talk(stdin, bufio.NewReader(stdout), lines)
		if err = errors.Join(err, stdin.Close(), command.Wait()); err != nil {
			return err
		}
		work.Check += outcome + statusOf(command)
		work.Units += count
		return nil
	}, nil, nil
}

func talk(to io.Writer, from *bufio.Reader, lines [][]byte) error {
	for _, line := range lines {
		if _, err := to.Write(line); err != nil {
			return err
		}
		answer, err := from.ReadSlice('\n')
		if err = errors.Join(err, expect(answer, line)); err != nil {
			return err
		}
	}
	return nil
}

func exchange(opening *lab.Opening) (operation, func() error, error) {
	content, err := contentOf(opening)
	if err != nil {
		return nil, nil, err
	}
	outcome := hashOf(content)
	return func(work *lab.Work) error {
		command := exec.Command("/bin/cat")
		command.Stdin = bytes.NewReader(content)
		var output bytes.Buffer
		command.Stdout = &output
		err := command.Run()
		if err = errors.Join(err, expect(output.Bytes(), content)); err != nil {
			return err
		}
		work.Check += outcome + statusOf(command)
		work.Units += uint64(output.Len())
		return nil
	}, nil, nil
}

func writeThenRead(opening *lab.Opening) (operation, func() error, error) {
	content, err := contentOf(opening)
	if err != nil {
		return nil, nil, err
	}
	return func(work *lab.Work) error {
		command := exec.Command("/bin/cat")
		stdin, err := command.StdinPipe()
		if err != nil {
			return err
		}
		stdout, err := command.StdoutPipe()
		if err != nil {
			return err
		}
		if err := command.Start(); err != nil {
			return err
		}
		killed := make(chan error, 1)
		timer := time.AfterFunc(deadlock, func() { killed <- command.Process.Kill() })
		stdin.Write(content) // fails if the program was killed
		stdin.Close()
		output, err := io.ReadAll(stdout)
		if !timer.Stop() {
			<-killed
		}
		command.Wait()
		work.Metrics["deadlocked"] += 0
		if statusOf(command) == 256+uint64(syscall.SIGKILL) {
			work.Metrics["deadlocked"] += 100
		} else if err = errors.Join(err, expect(output, content)); err != nil {
			return err
		}
		work.Check++
		work.Units++
		return nil
	}, nil, nil
}

// kill reads until the end of the output, when the program and its child have both exited.
func kill(*lab.Opening) (operation, func() error, error) {
	outcome := hashOf(nil)
	return func(work *lab.Work) error {
		var killed time.Time
		limit, cancel := context.WithTimeout(context.Background(), killAfter)
		defer cancel()
		command := exec.CommandContext(limit, "/bin/sh", "-c", "/bin/sleep 60 & exec /bin/sleep 60")
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		command.Cancel = func() error {
			killed = time.Now()
			return syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		}
		var output bytes.Buffer
		command.Stdout = &output
		err := command.Run()
		work.Metrics["kill_time"] += float64(time.Since(killed))
		if command.ProcessState == nil {
			return err
		}
		if err := expect(output.Bytes(), nil); err != nil {
			return err
		}
		work.Check += outcome + statusOf(command)
		work.Units++
		return nil
	}, nil, nil
}
