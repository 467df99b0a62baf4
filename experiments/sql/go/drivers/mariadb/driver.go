// SPDX-License-Identifier: Apache-2.0

// Package mariadb is the SQL experiment on MariaDB with go-sql-driver/mysql.
package mariadb

import (
	"database/sql"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"benchlab/lab"
	"benchlab/sql/cases"
)

// Driver connects to the database.
var Driver = cases.Driver{
	Open:     open,
	Write:    func(statement string) string { return statement },
	Settings: reportSettings,
	Mixed:    cases.FoldExact,
}

// Subject returns the SQL experiment's subject on this database.
func Subject() lab.Subject {
	all := Driver.Cases()
	all["do_1"] = Driver.OpenDoOne
	return lab.Subject{
		Name:    "go",
		Library: "go-sql-driver/mysql " + cases.ModuleVersion("github.com/go-sql-driver/mysql"),
		Cases:   all,
	}
}

// reportSettings reads the settings from the server; the driver has no statement cache.
func reportSettings(opening *lab.Opening, db *sql.DB) error {
	opening.Report("statement_cache", 0)
	return cases.ReportRow(opening, db)
}

func open(target string, text bool) (*sql.DB, error) {
	address, err := url.Parse(target)
	if err != nil || address.Scheme != "mariadb" {
		return nil, lab.Unsupported("the target must be mariadb://…")
	}
	config := mysql.NewConfig()
	config.User = address.User.Username()
	config.Passwd, _ = address.User.Password()
	config.Net, config.Addr = "tcp", address.Host
	if socket := address.Query().Get("socket"); socket != "" {
		config.Net, config.Addr = "unix", socket
	}
	config.DBName = strings.TrimPrefix(address.Path, "/")
	config.ParseTime = true         // a datetime is decoded to a time.Time
	config.InterpolateParams = text // otherwise a statement with parameters is prepared, executed and closed
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
