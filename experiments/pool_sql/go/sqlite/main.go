// SPDX-License-Identifier: Apache-2.0

// Pooled connections to SQLite in Go, with the SQL experiment's driver.
package main

import (
	"benchlab/lab"
	"benchlab/pool_sql/pooling"
	"benchlab/sql/drivers/sqlite"
)

func main() { lab.Serve(pooling.Subject(sqlite.Subject(), sqlite.Driver)) }
