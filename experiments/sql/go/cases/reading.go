// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"benchlab/lab"
)

// -- connect -----------------------------------------------------------------------------------

type connect struct{ *sql.DB }

func (d Driver) openConnect(opening *lab.Opening) (lab.Case, error) {
	db, err := d.openText(opening)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(-1) // a connection is closed when it is returned
	return connect{db}, nil
}

func (c connect) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		value, err := c.connectAndAsk()
		if err != nil {
			return work, err
		}
		work.Add(value)
	}
	return work, nil
}

func (c connect) connectAndAsk() (value int64, err error) {
	ctx := context.Background()
	connection, err := c.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	err = connection.QueryRowContext(ctx, "SELECT 1").Scan(&value)
	return value, err
}

// -- select_1 ----------------------------------------------------------------------------------

type selectOne struct {
	*sql.DB
	one statement
}

func (d Driver) openSelectOne(opening *lab.Opening) (lab.Case, error) {
	db, one, err := d.openStatement(opening, "SELECT 1")
	if err != nil {
		return nil, err
	}
	return selectOne{db, one}, nil
}

func (s selectOne) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		var value int64
		if err := s.one.QueryRow().Scan(&value); err != nil {
			return work, err
		}
		work.Add(value)
	}
	return work, nil
}

// -- do_1 --------------------------------------------------------------------------------------

type doOne struct{ *sql.DB }

// OpenDoOne opens a case that only MariaDB has.
func (d Driver) OpenDoOne(opening *lab.Opening) (lab.Case, error) {
	db, err := d.openText(opening)
	if err != nil {
		return nil, err
	}
	return doOne{db}, nil
}

func (d doOne) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		if _, err := d.Exec("DO 1"); err != nil {
			return work, err
		}
		work.Add(1)
	}
	return work, nil
}

// -- select ------------------------------------------------------------------------------------

type selectRows struct {
	*sql.DB
	first statement
}

func (d Driver) openSelect(opening *lab.Opening) (lab.Case, error) {
	limit, err := opening.Integer("limit", 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	db, first, err := d.openStatement(opening,
		fmt.Sprintf("SELECT id, value FROM test_simple ORDER BY id LIMIT %d", limit))
	if err != nil {
		return nil, err
	}
	return selectRows{db, first}, nil
}

func (s selectRows) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		if err := s.fetch(&work); err != nil {
			return work, err
		}
	}
	return work, nil
}

func (s selectRows) fetch(work *lab.Work) error {
	rows, err := s.first.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, value int64
		if err := rows.Scan(&id, &value); err != nil {
			return err
		}
		work.Add(id + value)
	}
	return rows.Err()
}

// -- point -------------------------------------------------------------------------------------

const selectPoint = "SELECT value FROM test_simple WHERE id = ?"

type point struct {
	*sql.DB
	find statement
	ids  *inputs
}

func (d Driver) openPoint(opening *lab.Opening) (lab.Case, error) {
	ids, err := newIDs(opening)
	if err != nil {
		return nil, err
	}
	db, find, err := d.openStatement(opening, selectPoint)
	if err != nil {
		return nil, err
	}
	return &point{db, find, ids}, nil
}

func (p *point) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		var value int64
		if err := p.find.QueryRow(p.ids[k%lab.Inputs]).Scan(&value); err != nil {
			return work, err
		}
		work.Add(value)
	}
	return work, nil
}

// -- mixed -------------------------------------------------------------------------------------

type mixed struct {
	*sql.DB
	find *sql.Stmt
	ids  *inputs
	fold func(*sql.Row) (int64, error)
}

func (d Driver) openMixed(opening *lab.Opening) (lab.Case, error) {
	ids, err := newIDs(opening)
	if err != nil {
		return nil, err
	}
	db, find, err := d.openOne(opening,
		"SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = ?")
	if err != nil {
		return nil, err
	}
	return &mixed{db, find, ids, d.Mixed}, nil
}

func (m *mixed) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		sum, err := m.fold(m.find.QueryRow(m.ids[k%lab.Inputs]))
		if err != nil {
			return work, err
		}
		work.Add(sum)
	}
	return work, nil
}
