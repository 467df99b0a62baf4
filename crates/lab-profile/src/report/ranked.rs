// SPDX-License-Identifier: Apache-2.0
//! Tables of the largest differences between two profiles, or of the largest values of a single
//! profile.

use super::ProfilePair;
use crate::wording;
use lab_document::{Cell, Table};
use lab_model::Unit;

/// The maximum number of rows in a table of a profile.
pub(super) const MAX_ROWS: usize = 15;

/// A row of a table, with a value from each profile. A value is `None` if the profile does not
/// contain the function or location.
pub(super) struct RankedRow {
    pub name: String,
    pub before: Option<u64>,
    pub after: Option<u64>,
}

/// The layout of a table.
pub(super) struct RankedTable<'a> {
    pub title: &'a str,
    pub first_column: &'a str,
    pub unit: &'a Unit,
    /// The value that is 100% in the table of a single profile.
    pub total: Option<u64>,
}

impl RankedTable<'_> {
    /// Builds the table of the rows with the largest differences or, for a single profile, the largest values.
    pub(super) fn build(
        &self,
        pair: &ProfilePair,
        rows: impl IntoIterator<Item = RankedRow>,
    ) -> Table {
        let mut rows: Vec<RankedRow> = rows
            .into_iter()
            .filter(|row| row.before.unwrap_or(0) > 0 || row.after.unwrap_or(0) > 0)
            .collect();
        rows.sort_by_cached_key(|row| {
            let (before, after) = (row.before.unwrap_or(0), row.after.unwrap_or(0));
            (
                std::cmp::Reverse(before.abs_diff(after)),
                std::cmp::Reverse(before),
                row.name.clone(),
            )
        });
        let hidden = rows.len().saturating_sub(MAX_ROWS);
        let columns = pair.columns(self.first_column, self.unit);
        let mut table = Table::new(self.title, columns).with_caption(wording::RANKED_CAPTION);
        for row in rows.into_iter().take(MAX_ROWS) {
            let mut cells = vec![Cell::from(row.name)];
            cells.extend(pair.cells((row.before, row.after), self.unit, self.total));
            table.row(cells);
        }
        if hidden > 0 {
            table.notes.push(wording::left_out(hidden));
        }
        table
    }
}
