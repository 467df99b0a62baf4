// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"math"
	"syscall"
	"time"
	"unsafe"
)

// The runtime reads CLOCK_MONOTONIC, too, without a system call, but its readings count from the
// program's start. The difference between the two clocks is constant, so it is determined once.
var (
	origin      = time.Now()
	atOrigin, _ = kernelAtOrigin()
)

// monotonic returns CLOCK_MONOTONIC in ns.
func monotonic() int64 {
	return atOrigin + int64(time.Since(origin))
}

// kernelAtOrigin returns the value of CLOCK_MONOTONIC at origin, and the error bound, in ns. The
// kernel's clock is read between two readings of the runtime's clock that are as close together as
// possible.
func kernelAtOrigin() (at, error int64) {
	error = math.MaxInt64
	for range 100 {
		before := int64(time.Since(origin))
		kernel := kernelMonotonic()
		after := int64(time.Since(origin))
		if half := (after - before + 1) / 2; half < error {
			at, error = kernel-before-half, half
		}
	}
	return at, error
}

// kernelMonotonic reads the clock with a system call.
func kernelMonotonic() int64 {
	const clockMonotonic = 1 // clock_gettime(2)
	var now syscall.Timespec
	_, _, errno := syscall.RawSyscall(
		syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		panic(errno)
	}
	return now.Nano()
}
