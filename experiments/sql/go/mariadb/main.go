// SPDX-License-Identifier: Apache-2.0

// The SQL experiment's subject in Go; its driver is in drivers/mariadb.
package main

import (
	"benchlab/lab"
	"benchlab/sql/drivers/mariadb"
)

func main() { lab.Serve(mariadb.Subject()) }
