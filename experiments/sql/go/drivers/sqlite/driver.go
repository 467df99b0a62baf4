// SPDX-License-Identifier: Apache-2.0

// Package sqlite is the SQL experiment on SQLite with go-sqlite3, which calls the SQLite that it bundles
// through cgo.
package sqlite

import (
	"database/sql"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"benchlab/lab"
	"benchlab/sql/cases"
)

// Driver connects to the database.
var Driver = cases.Driver{
	Open:     open,
	Write:    quoteKeyword,
	Settings: reportSettings,
	Mixed:    foldMixed,
}

// Subject returns the SQL experiment's subject on this database.
func Subject() lab.Subject {
	version, _, _ := sqlite3.Version()
	return lab.Subject{
		Name:      "go",
		Library:   "go-sqlite3 " + cases.ModuleVersion("github.com/mattn/go-sqlite3") + ", SQLite " + version,
		OneThread: true,
		Cases:     Driver.Cases(),
	}
}

// open ignores whether statements are prepared or sent as text: the driver's statement cache is off.
func open(target string, _ bool) (*sql.DB, error) {
	path, ok := strings.CutPrefix(target, "sqlite:")
	if !ok {
		return nil, lab.Unsupported("the target must be sqlite:PATH")
	}
	// A missing file is not created. By default, the driver would set synchronous to NORMAL on each connection;
	// FULL is SQLite's own default.
	return sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_synchronous=FULL")
}

// quoteKeyword quotes the one name that is a keyword of SQLite.
func quoteKeyword(statement string) string {
	return strings.ReplaceAll(statement, "nothing", `"nothing"`)
}

func reportSettings(opening *lab.Opening, db *sql.DB) error {
	ask := func(setting, query string) error {
		var value string
		err := db.QueryRow(query).Scan(&value)
		opening.Report(setting, value)
		return err
	}
	if err := ask("version", "SELECT sqlite_version()"); err != nil {
		return err
	}
	if err := ask("source_id", "SELECT sqlite_source_id()"); err != nil {
		return err
	}
	for _, pragma := range []string{
		"journal_mode", "synchronous", "encoding", "page_size", "cache_size", "secure_delete",
	} {
		if err := ask(pragma, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	return cases.WithConnection(db, func(connection any) error {
		sqlite := connection.(*sqlite3.SQLiteConn)
		autocommit := 0
		if sqlite.AutoCommit() {
			autocommit = 1
		}
		opening.Report("autocommit", autocommit)
		opening.Report("threading", threading(sqlite))
		opening.Report("statement_cache", statementCache(sqlite))
		return nil
	})
}

// foldMixed returns the sum of a row's values; SQLite has neither decimals nor timestamps.
func foldMixed(row *sql.Row) (int64, error) {
	var mixed cases.MixedRow
	var amount float64
	var text string
	err := row.Scan(&mixed.ID, &mixed.Small, &mixed.Big, &amount, &mixed.Name, &mixed.Nothing, &text)
	if err != nil {
		return 0, err
	}
	moment, err := time.Parse("2006-01-02 15:04:05.000", text)
	if err != nil {
		return 0, err
	}
	return mixed.Fold(int64(math.Round(amount*10_000)), moment.UnixMilli()), nil
}
