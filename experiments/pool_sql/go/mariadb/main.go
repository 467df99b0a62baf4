// SPDX-License-Identifier: Apache-2.0

// Pooled connections to MariaDB in Go, with the SQL experiment's driver.
package main

import (
	"benchlab/lab"
	"benchlab/pool_sql/pooling"
	"benchlab/sql/drivers/mariadb"
)

func main() { lab.Serve(pooling.Subject(mariadb.Subject(), mariadb.Driver)) }
