// SPDX-License-Identifier: Apache-2.0
//! Tables whose columns correspond to the fields of a type. Each column is listed only once, for
//! both reading and writing.

use lab_model::{
    LogLine, NoiseFreeValue, PointId, ProcessExit, ProcessStart, Reading, Resources, Setting,
    SubjectId,
};
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Row, ToSql};

/// A row of a table. The first columns are keys, which are not fields of the type. The remaining
/// columns are the fields of the type.
pub trait StoredRow: Sized {
    /// The statement that selects the keys and then the fields.
    const SELECT: &str;
    /// The statement that inserts the keys and then the fields.
    const INSERT: &str;

    /// Reads the fields of a selected row.
    fn read(row: &Row) -> rusqlite::Result<Self>;

    /// Returns the values for [`StoredRow::INSERT`].
    fn values<'a>(&'a self, keys: &[&'a dyn ToSql]) -> rusqlite::Result<Vec<ToSqlOutput<'a>>>;
}

/// A type whose values are stored in a column.
trait Column: Sized {
    /// Reads a column of a row.
    fn read(row: &Row, column: usize) -> rusqlite::Result<Self>;

    /// Returns the value to store.
    fn value(&self) -> rusqlite::Result<ToSqlOutput<'_>>;
}

macro_rules! plain_columns {
    ($($type:ty)*) => {$(
        impl Column for $type {
            fn read(row: &Row, column: usize) -> rusqlite::Result<Self> {
                row.get(column)
            }

            fn value(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.to_sql()
            }
        }
    )*};
}

plain_columns!(i32 u32 u64 f64 String Option<u32> Option<u64>);

macro_rules! id_columns {
    ($($type:ident)*) => {$(
        impl Column for $type {
            fn read(row: &Row, column: usize) -> rusqlite::Result<Self> {
                row.get(column).map($type)
            }

            fn value(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }
    )*};
}

id_columns!(SubjectId PointId);

impl Column for Option<PointId> {
    fn read(row: &Row, column: usize) -> rusqlite::Result<Self> {
        Ok(row.get::<_, Option<u32>>(column)?.map(PointId))
    }

    fn value(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Some(point) => point.value(),
            None => Ok(ToSqlOutput::Owned(Value::Null)),
        }
    }
}

macro_rules! record {
    ($type:ident: $table:ident [$($key:ident)*] $first:ident $($field:ident)*) => {
        impl StoredRow for $type {
            const SELECT: &str = concat!(
                "SELECT ", $(stringify!($key), ", ",)* stringify!($first),
                $(", ", stringify!($field),)* " FROM ", stringify!($table)
            );
            const INSERT: &str = concat!(
                "INSERT INTO ", stringify!($table), " (", $(stringify!($key), ", ",)*
                stringify!($first), $(", ", stringify!($field),)* ") VALUES (",
                $(":", stringify!($key), ", ",)* ":", stringify!($first),
                $(", :", stringify!($field),)* ")"
            );

            fn read(row: &Row) -> rusqlite::Result<Self> {
                let keys: &[&str] = &[$(stringify!($key)),*];
                let mut columns = keys.len()..;
                let mut next = || columns.next().unwrap_or_default();
                Ok($type {
                    $first: Column::read(row, next())?,
                    $($field: Column::read(row, next())?),*
                })
            }

            fn values<'a>(
                &'a self,
                keys: &[&'a dyn ToSql],
            ) -> rusqlite::Result<Vec<ToSqlOutput<'a>>> {
                let keys = keys.iter().map(|&key| key.to_sql());
                keys.chain([self.$first.value(), $(self.$field.value()),*]).collect()
            }
        }
    };
}

record!(Setting: setting [] subject point key value);
record!(NoiseFreeValue: figure [] subject metric value);
record!(LogLine: log [] subject block line);
record!(ProcessStart: process [block] subject startup_ns startup_cpu_ns);
record!(Resources: resource [block] subject point rss_bytes peak_rss_bytes threads user_ns sys_ns
    voluntary_switches involuntary_switches server_bytes);
record!(ProcessExit: exit [block] point subject pass user_ns sys_ns peak_rss_bytes minor_faults major_faults
    voluntary_switches involuntary_switches status);
record!(Reading: reading [block redone] subject point pass metric value);
