// SPDX-License-Identifier: Apache-2.0
//! Inputs of cases, from the seeded sequence and the arguments of `open`.

use lab_kit::{Failure, Inputs, Opening};

/// Returns true if the case's statement is prepared once, and false if its text is sent in each operation.
pub fn is_prepared(opening: &Opening) -> Result<bool, Failure> {
    match opening.text("statement")? {
        "prepared" => Ok(true),
        "text" => Ok(false),
        _ => Err(Failure::unsupported(
            "expected statement=prepared or statement=text",
        )),
    }
}

/// Returns ids of rows, from 1 to the table's number of rows.
pub fn ids(opening: &Opening) -> Result<Inputs<i32>, Failure> {
    let rows = rows(opening)?;
    Ok(opening.inputs().map(|s| id(s, rows)))
}

/// Returns values to insert.
pub fn values(opening: &Opening) -> Inputs<i32> {
    opening.inputs().map(|s| (s >> 33) as i32)
}

/// An amount that is added to a row's value.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Update {
    pub amount: i32,
    pub id: i32,
}

/// Returns the updates of `update_point`.
pub fn updates(opening: &Opening) -> Result<Inputs<Update>, Failure> {
    let rows = rows(opening)?;
    let update = |s: u64| Update {
        amount: amount(s),
        id: id(s, rows),
    };
    Ok(opening.inputs().map(update))
}

/// An amount that is moved from one row to another.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Transfer {
    pub amount: i32,
    pub from: i32,
    pub to: i32,
}

/// Returns the transfers of `transfer`.
pub fn transfers(opening: &Opening) -> Result<Inputs<Transfer>, Failure> {
    let rows = rows(opening)?;
    let transfer = |s: u64| Transfer {
        amount: amount(s),
        from: id(s, rows),
        to: id(s >> 32, rows),
    };
    Ok(opening.inputs().map(transfer))
}

fn rows(opening: &Opening) -> Result<u64, Failure> {
    opening.integer("rows", 1..=i32::MAX as u64)
}

fn id(s: u64, rows: u64) -> i32 {
    1 + (s % rows) as i32
}

fn amount(s: u64) -> i32 {
    1 + ((s >> 20) % 100) as i32
}
