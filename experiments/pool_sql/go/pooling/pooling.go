// SPDX-License-Identifier: Apache-2.0

// Package pooling implements the cases of the experiment. The pool is part of database/sql: a statement
// leases a connection, and returns it after its last row.
package pooling

import (
	"database/sql"

	"benchlab/lab"
	"benchlab/sql/cases"
)

const (
	connections = 4
	threadsMax  = 256
)

// Subject returns this experiment's subject for a target, based on the SQL experiment's subject.
func Subject(subject lab.Subject, driver cases.Driver) lab.Subject {
	subject.Library += ", database/sql"
	subject.Cases = map[string]lab.Open{
		"opened": subject.Cases["connect"],
		"pooled": func(opening *lab.Opening) (lab.Case, error) {
			db, err := openPool(opening, driver)
			return pooled{db}, err
		},
		"shared": func(opening *lab.Opening) (lab.Case, error) { return openShared(opening, driver) },
	}
	return subject
}

// openPool returns a pool whose connections are all open.
func openPool(opening *lab.Opening, driver cases.Driver) (*sql.DB, error) {
	target, err := opening.Text("target")
	if err != nil {
		return nil, err
	}
	db, err := driver.Open(target, true)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err = openAll(db); err == nil {
		err = driver.Settings(opening, db)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func openAll(db *sql.DB) error {
	for range connections {
		rows, err := db.Query("SELECT 1")
		if err != nil {
			return err
		}
		defer rows.Close() // deferred, so that the next query needs another connection
	}
	return nil
}

func request(db *sql.DB) (value int64, err error) {
	err = db.QueryRow("SELECT 1").Scan(&value)
	return value, err
}

type pooled struct{ *sql.DB }

func (p pooled) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		value, err := request(p.DB)
		if err != nil {
			return work, err
		}
		work.Add(value)
	}
	return work, nil
}

// shared is like pooled, with n concurrent goroutines.
type shared struct {
	*lab.Workers
	db *sql.DB
}

func openShared(opening *lab.Opening, driver cases.Driver) (lab.Case, error) {
	threads, err := opening.Integer("threads", 1, threadsMax)
	if err != nil {
		return nil, err
	}
	db, err := openPool(opening, driver)
	if err != nil {
		return nil, err
	}
	share := func(worker, operations uint64, latencies *lab.Latencies) (work lab.Work, err error) {
		for k := worker; k < operations; k += threads {
			value, err := request(db)
			if err != nil {
				return work, err
			}
			work.Add(value)
			latencies.Done()
		}
		return work, nil
	}
	return shared{lab.NewWorkers(threads, share), db}, nil
}

func (s shared) Close() error {
	s.Workers.Close()
	return s.db.Close()
}
