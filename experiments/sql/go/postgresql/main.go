// SPDX-License-Identifier: Apache-2.0

// The SQL experiment's subject in Go; its driver is in drivers/postgresql.
package main

import (
	"benchlab/lab"
	"benchlab/sql/drivers/postgresql"
)

func main() { lab.Serve(postgresql.Subject()) }
