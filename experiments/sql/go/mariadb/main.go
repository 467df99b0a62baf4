// SPDX-License-Identifier: Apache-2.0

// SQL on MariaDB with go-sql-driver/mysql.
package main

import (
	"database/sql"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"benchlab/lab"
	"benchlab/sql/cases"
)

func main() {
	driver := cases.Driver{
		Open:     open,
		Write:    func(statement string) string { return statement },
		Settings: cases.ReportRow,
		Mixed:    cases.FoldExact,
	}
	all := driver.Cases()
	all["do_1"] = driver.OpenDoOne
	lab.Serve(lab.Subject{
		Name:    "go",
		Library: "go-sql-driver/mysql " + cases.ModuleVersion("github.com/go-sql-driver/mysql"),
		Cases:   all,
	})
}

func open(target string, text bool) (*sql.DB, error) {
	address, err := url.Parse(target)
	if err != nil || address.Scheme != "mariadb" {
		return nil, lab.Unsupported("the target is not mariadb://…")
	}
	config := mysql.NewConfig()
	config.User = address.User.Username()
	config.Passwd, _ = address.User.Password()
	config.Net, config.Addr = "tcp", address.Host
	if socket := address.Query().Get("socket"); socket != "" {
		config.Net, config.Addr = "unix", socket
	}
	config.DBName = strings.TrimPrefix(address.Path, "/")
	config.ParseTime = true         // a datetime is a time.Time
	config.InterpolateParams = text // else a statement with parameters is prepared, executed and closed
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
