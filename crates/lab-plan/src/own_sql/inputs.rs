// SPDX-License-Identifier: Apache-2.0
//! The values to bind in the statements of a workload.

use super::source::{Source, mix};
use lab_model::{SqlParameter, SqlType, SqlWork, TargetKind};
use std::collections::BTreeMap;

/// The number of operations for which input values are generated.
const INPUTS: u64 = 4096;

/// Computes the values to bind in each of the first [`INPUTS`] operations. `columns` contains the
/// values of the columns from which parameters draw.
///
/// # Errors
/// Returns a message if a column has no values.
pub fn inputs(
    work: &SqlWork,
    columns: &BTreeMap<String, Vec<String>>,
    seed: u64,
) -> Result<Vec<Vec<String>>, String> {
    let sources = work.parameters.iter().map(|p| Source::parse(&p.source));
    let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
    let value = |source: &Source, bits: u64, row: u64| -> Result<String, String> {
        let Source::Column(table, column) = source else {
            return Ok(source.value(bits, row).unwrap_or_default());
        };
        let values = columns.get(&format!("{table}.{column}"));
        let values = values.filter(|values| !values.is_empty());
        let values =
            values.ok_or_else(|| format!("`{table}.{column}` has no values to draw from"))?;
        Ok(values[(bits % values.len() as u64) as usize].clone())
    };
    let mut state = seed;
    let mut operation = |row: u64| -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        for source in &sources {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            values.push(value(source, mix(state), row)?);
        }
        let uses = work.statements.iter().flat_map(|s| &s.uses);
        Ok(uses.filter_map(|&i| values.get(i).cloned()).collect())
    };
    (0..INPUTS).map(&mut operation).collect()
}

/// Returns the table and the column from which a parameter draws its values, or `None` if the
/// values have another source.
pub fn column_of(parameter: &SqlParameter) -> Option<(String, String)> {
    match Source::parse(&parameter.source) {
        Ok(Source::Column(table, column)) => Some((table, column)),
        _ => None,
    }
}

/// Returns the type with which the values of a parameter are bound, or `None` if the parameter
/// draws its values from a column. SQLite has no decimal type, so decimals are bound as floats
/// there.
pub fn kind_of(parameter: &SqlParameter, target: TargetKind) -> Option<SqlType> {
    Some(match Source::parse(&parameter.source).ok()? {
        Source::Sequence(_) | Source::Integers(..) => SqlType::Integer,
        Source::Decimals { .. } => bound_as(SqlType::Decimal, target),
        Source::Days(..) | Source::Words(_) | Source::Text(..) => SqlType::Text,
        Source::Column(..) => return None,
    })
}

/// Returns the type with which values of a column are bound.
pub fn bound_as(column: SqlType, target: TargetKind) -> SqlType {
    match column {
        SqlType::Decimal if target == TargetKind::Sqlite => SqlType::Float,
        SqlType::Integer | SqlType::Float => column,
        SqlType::Boolean
        | SqlType::Decimal
        | SqlType::Text
        | SqlType::Bytes
        | SqlType::Date
        | SqlType::Timestamp => SqlType::Text,
    }
}
