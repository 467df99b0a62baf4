// SPDX-License-Identifier: Apache-2.0

// Pooled connections to PostgreSQL in Go, with the SQL experiment's driver.
package main

import (
	"benchlab/lab"
	"benchlab/pool_sql/pooling"
	"benchlab/sql/drivers/postgresql"
)

func main() { lab.Serve(pooling.Subject(postgresql.Subject(), postgresql.Driver)) }
