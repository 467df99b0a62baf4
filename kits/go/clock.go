// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"math"
	"syscall"
	"time"
	"unsafe"
)

// The runtime reads CLOCK_MONOTONIC, too, and without a system call; but it counts from the
// program's start. The difference between the two counts never changes, so it is found out once.
var (
	origin      = time.Now()
	atOrigin, _ = kernelAtOrigin()
)

// monotonic returns CLOCK_MONOTONIC in ns.
func monotonic() int64 {
	return atOrigin + int64(time.Since(origin))
}

// kernelAtOrigin returns what clock_gettime would have said at origin, and by how much that may be
// wrong, in ns: it is read between two readings of the runtime's clock, as close as they get.
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

// kernelMonotonic asks the kernel itself.
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
