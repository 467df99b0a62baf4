// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
)

// resetPeak resets the peak resident set size to the current size (proc(5), clear_refs).
func resetPeak() error {
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peak returns the peak resident set size in bytes.
func peak() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	_, err = fmt.Sscanf(line, "%g kB", &kib)
	return 1024 * kib, err
}
