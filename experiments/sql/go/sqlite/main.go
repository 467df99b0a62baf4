// SPDX-License-Identifier: Apache-2.0

// The SQL experiment's subject in Go; its driver is in drivers/sqlite.
package main

import (
	"benchlab/lab"
	"benchlab/sql/drivers/sqlite"
)

func main() { lab.Serve(sqlite.Subject()) }
