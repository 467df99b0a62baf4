// SPDX-License-Identifier: Apache-2.0

// Package postgresql is the SQL experiment on PostgreSQL with pgx, through database/sql.
package postgresql

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"benchlab/lab"
	"benchlab/sql/cases"
)

// Driver connects to the database.
var Driver = cases.Driver{
	Open:     open,
	Write:    numberParameters,
	Settings: reportSettings,
	Mixed:    cases.FoldExact,
}

// Subject returns the SQL experiment's subject on this database.
func Subject() lab.Subject {
	return lab.Subject{
		Name:    "go",
		Library: "pgx " + cases.ModuleVersion("github.com/jackc/pgx/v5"),
		Cases:   Driver.Cases(),
	}
}

func open(target string, text bool) (*sql.DB, error) {
	address, err := url.Parse(target)
	if err != nil || address.Scheme != "postgresql" {
		return nil, lab.Unsupported("the target must be postgresql://…")
	}
	parameters := address.Query()
	parameters.Set("sslmode", "disable")
	address.RawQuery = parameters.Encode()
	config, err := pgx.ParseConfig(address.String())
	if err != nil {
		return nil, err
	}
	if text {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec // uses PostgreSQL's unnamed statement
		config.StatementCacheCapacity = 0
		config.DescriptionCacheCapacity = 0
	}
	return stdlib.OpenDB(*config, stdlib.OptionShouldPing(never)), nil
}

// never tells the driver not to check connections that were idle for a second. All connections of a
// frozen subject are idle.
func never(context.Context, stdlib.ShouldPingParams) bool { return false }

// reportSettings reads the settings from the server, and the size of the statement cache of a connection from
// the driver.
func reportSettings(opening *lab.Opening, db *sql.DB) error {
	if err := cases.ReportRow(opening, db); err != nil {
		return err
	}
	return cases.WithConnection(db, func(connection any) error {
		config := connection.(*stdlib.Conn).Conn().Config()
		opening.Report("statement_cache", config.StatementCacheCapacity)
		return nil
	})
}

func numberParameters(statement string) string {
	for n := 1; strings.Contains(statement, "?"); n++ {
		statement = strings.Replace(statement, "?", fmt.Sprintf("$%d", n), 1)
	}
	return statement
}
