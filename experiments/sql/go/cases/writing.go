// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"database/sql"
	"math"

	"benchlab/lab"
)

const (
	insertRow  = "INSERT INTO test_simple (value) VALUES (?)"
	takeAmount = "UPDATE test_simple SET value = value - ? WHERE id = ?"
	giveAmount = "UPDATE test_simple SET value = value + ? WHERE id = ?"
)

// -- insert ------------------------------------------------------------------------------------

type insert struct {
	*sql.DB
	insert statement
	values *inputs
}

func (d Driver) openInsert(opening *lab.Opening) (lab.Case, error) {
	db, statement, err := d.openStatement(opening, insertRow)
	if err != nil {
		return nil, err
	}
	return &insert{db, statement, newValues(opening)}, nil
}

func (i *insert) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		value := i.values[k%lab.Inputs]
		if _, err := i.insert.Exec(value); err != nil {
			return work, err
		}
		work.Add(value)
	}
	return work, nil
}

// -- insert_tx ---------------------------------------------------------------------------------

type insertTx struct {
	*sql.DB
	insert *sql.Stmt
	values *inputs
	rows   uint64 // per transaction
}

func (d Driver) openInsertTx(opening *lab.Opening) (lab.Case, error) {
	rows, err := opening.Integer("rows_tx", 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	db, insert, err := d.openOne(opening, insertRow)
	if err != nil {
		return nil, err
	}
	return &insertTx{db, insert, newValues(opening), rows}, nil
}

func (i *insertTx) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		if err := i.transaction(&work); err != nil {
			return work, err
		}
	}
	return work, nil
}

func (i *insertTx) transaction(work *lab.Work) error {
	tx, err := i.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	insert := tx.Stmt(i.insert)
	for range i.rows {
		value := i.values[work.Units%lab.Inputs]
		if _, err := insert.Exec(value); err != nil {
			return err
		}
		work.Add(value)
	}
	return tx.Commit()
}

// -- update_point ------------------------------------------------------------------------------

type updatePoint struct {
	*sql.DB
	give        *sql.Stmt
	amounts, to *inputs
}

func (d Driver) openUpdatePoint(opening *lab.Opening) (lab.Case, error) {
	ids, err := newIDs(opening)
	if err != nil {
		return nil, err
	}
	db, give, err := d.openOne(opening, giveAmount)
	if err != nil {
		return nil, err
	}
	return &updatePoint{db, give, newAmounts(opening), ids}, nil
}

func (u *updatePoint) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		amount := u.amounts[k%lab.Inputs]
		if _, err := u.give.Exec(amount, u.to[k%lab.Inputs]); err != nil {
			return work, err
		}
		work.Add(amount)
	}
	return work, nil
}

// -- transfer ----------------------------------------------------------------------------------

type transfer struct {
	*sql.DB
	take, give        *sql.Stmt
	amounts, from, to *inputs
}

func (d Driver) openTransfer(opening *lab.Opening) (lab.Case, error) {
	rows, err := countRows(opening)
	if err != nil {
		return nil, err
	}
	db, prepared, err := d.openPrepared(opening, 1, takeAmount, giveAmount)
	if err != nil {
		return nil, err
	}
	return &transfer{
		DB:      db,
		take:    prepared[0],
		give:    prepared[1],
		amounts: newAmounts(opening),
		from:    newInputs(opening, func(value uint64) uint64 { return 1 + value%rows }),
		to:      newInputs(opening, func(value uint64) uint64 { return 1 + value>>32%rows }),
	}, nil
}

func (t *transfer) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		i := k % lab.Inputs
		if err := t.transaction(t.amounts[i], t.from[i], t.to[i]); err != nil {
			return work, err
		}
		work.Check += uint64(t.amounts[i])
		work.Units += 2
	}
	return work, nil
}

func (t *transfer) transaction(amount, from, to int64) error {
	tx, err := t.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Stmt(t.take).Exec(amount, from); err != nil {
		return err
	}
	if _, err := tx.Stmt(t.give).Exec(amount, to); err != nil {
		return err
	}
	return tx.Commit()
}

// -- drop_create -------------------------------------------------------------------------------

type dropCreate struct {
	*sql.DB
	create string
}

func (d Driver) openDropCreate(opening *lab.Opening) (lab.Case, error) {
	create, err := opening.Text("table")
	if err != nil {
		return nil, err
	}
	db, err := d.openText(opening)
	if err != nil {
		return nil, err
	}
	return dropCreate{db, create}, nil
}

func (d dropCreate) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		if _, err := d.Exec("DROP TABLE test_simple"); err != nil {
			return work, err
		}
		if _, err := d.Exec(d.create); err != nil {
			return work, err
		}
		work.Add(1)
	}
	return work, nil
}
