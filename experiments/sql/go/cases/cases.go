// SPDX-License-Identifier: Apache-2.0

// Package cases contains the cases of the SQL experiment, over database/sql.
package cases

import (
	"database/sql"
	"math"
	"runtime/debug"
	"strings"

	"benchlab/lab"
)

// Driver contains the database-specific functions of the cases.
type Driver struct {
	// Open returns a connection pool for a target. If text is true, the pool sends each statement as text, and prepares
	// and caches none.
	Open func(target string, text bool) (*sql.DB, error)
	// Write translates a statement with `?` for each parameter and with unquoted names to the database's syntax.
	Write func(statement string) string
	// Settings reports the settings of the pool's connection.
	Settings func(*lab.Opening, *sql.DB) error
	// Mixed reads a row of test_mixed and returns the sum of its values.
	Mixed func(*sql.Row) (int64, error)
}

// Cases returns the cases that every database has.
func (d Driver) Cases() map[string]lab.Open {
	return map[string]lab.Open{
		"connect":      d.openConnect,
		"select_1":     d.openSelectOne,
		"select":       d.openSelect,
		"point":        d.openPoint,
		"mixed":        d.openMixed,
		"insert":       d.openInsert,
		"insert_tx":    d.openInsertTx,
		"update_point": d.openUpdatePoint,
		"transfer":     d.openTransfer,
		"drop_create":  d.openDropCreate,
		"connections":  d.openConnections,
		"own":          d.openOwn,
	}
}

// ModuleVersion returns the version of a module that is linked into the program.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == path {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "0"
}

// -- Pools and statements ----------------------------------------------------------------------

// statement is either an *sql.Stmt or a text.
type statement interface {
	Exec(parameters ...any) (sql.Result, error)
	Query(parameters ...any) (*sql.Rows, error)
	QueryRow(parameters ...any) *sql.Row
}

// text is a statement that is sent as text each time.
type text struct {
	db    *sql.DB
	query string
}

func (t text) Exec(parameters ...any) (sql.Result, error) { return t.db.Exec(t.query, parameters...) }
func (t text) Query(parameters ...any) (*sql.Rows, error) { return t.db.Query(t.query, parameters...) }
func (t text) QueryRow(parameters ...any) *sql.Row        { return t.db.QueryRow(t.query, parameters...) }

// openPool returns a pool of the given number of connections, which stay open even while they are idle.
func (d Driver) openPool(opening *lab.Opening, connections int, text bool) (*sql.DB, error) {
	target, err := opening.Text("target")
	if err != nil {
		return nil, err
	}
	db, err := d.Open(target, text)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// openText returns a pool of one connection, for statements that are sent as text.
func (d Driver) openText(opening *lab.Opening) (*sql.DB, error) {
	db, err := d.openPool(opening, 1, true)
	if err != nil {
		return nil, err
	}
	return db, d.report(opening, db)
}

// openPrepared returns a pool of the given number of connections, and the statements, prepared on one
// connection.
func (d Driver) openPrepared(opening *lab.Opening, connections int, queries ...string) (
	db *sql.DB, prepared []*sql.Stmt, err error) {
	db, err = d.openPool(opening, connections, false)
	if err != nil {
		return nil, nil, err
	}
	for _, query := range queries {
		statement, err := db.Prepare(d.Write(query))
		if err != nil {
			db.Close()
			return nil, nil, err
		}
		prepared = append(prepared, statement)
	}
	return db, prepared, d.report(opening, db)
}

// openStatement returns a pool of one connection and a statement, either prepared or sent as text, as the argument
// `statement` specifies.
func (d Driver) openStatement(opening *lab.Opening, query string) (*sql.DB, statement, error) {
	how, err := opening.Text("statement")
	if err != nil {
		return nil, nil, err
	}
	switch how {
	case "text":
		db, err := d.openText(opening)
		return db, text{db, d.Write(query)}, err
	case "prepared":
		return d.openOne(opening, query)
	}
	return nil, nil, lab.Unsupported("expected statement=prepared or statement=text")
}

// openOne returns a pool of one connection and a statement that is prepared on it.
func (d Driver) openOne(opening *lab.Opening, query string) (*sql.DB, *sql.Stmt, error) {
	db, prepared, err := d.openPrepared(opening, 1, query)
	if err != nil {
		return nil, nil, err
	}
	return db, prepared[0], nil
}

// report reports the settings. It closes the pool if this fails.
func (d Driver) report(opening *lab.Opening, db *sql.DB) error {
	err := d.Settings(opening, db)
	if err != nil {
		db.Close()
	}
	return err
}

// -- Inputs ------------------------------------------------------------------------------------

type inputs = [lab.Inputs]int64

// newInputs computes the values to bind from the seeded sequence.
func newInputs(opening *lab.Opening, compute func(value uint64) uint64) *inputs {
	var made inputs
	for i, value := range opening.Inputs {
		made[i] = int64(compute(value))
	}
	return &made
}

// newIDs returns ids of existing rows; the argument `rows` is the number of rows of the table.
func newIDs(opening *lab.Opening) (*inputs, error) {
	rows, err := countRows(opening)
	if err != nil {
		return nil, err
	}
	return newInputs(opening, func(value uint64) uint64 { return 1 + value%rows }), nil
}

func countRows(opening *lab.Opening) (uint64, error) {
	return opening.Integer("rows", 1, math.MaxInt32)
}

// newAmounts returns amounts by which to change values, from 1 to 100.
func newAmounts(opening *lab.Opening) *inputs {
	return newInputs(opening, func(value uint64) uint64 { return 1 + value>>20%100 })
}

// newValues returns values to insert, from 0 to 2^31 - 1.
func newValues(opening *lab.Opening) *inputs {
	return newInputs(opening, func(value uint64) uint64 { return value >> 33 })
}
