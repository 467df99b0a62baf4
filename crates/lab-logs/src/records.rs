// SPDX-License-Identifier: Apache-2.0
//! Writes entries as rows of Parquet files, with the pages that count them, in constant memory.
//!
//! The variable segments of routes are known only at the end. A row therefore contains the page in
//! which its entry was first counted, and a separate table maps these pages to the pages of the
//! report.

use crate::entry::Entry;
use crate::page::Page;
use lab_model::PageKind;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of rows in a row group, which is also the number of rows in memory.
const GROUP: usize = 1 << 17;

/// The maximum number of row groups in a file, 16 million rows in total. The limit exists because
/// the file's footer lists all row groups.
const GROUPS: usize = 128;

const RECORD: &str = "message record {
    OPTIONAL INT64 time (TIMESTAMP(MICROS, true));
    REQUIRED INT32 offset_s;
    REQUIRED BINARY log (UTF8);
    REQUIRED BINARY kind (UTF8);
    REQUIRED BINARY page (UTF8);
    OPTIONAL INT32 status;
    REQUIRED INT64 bytes;
    OPTIONAL INT64 duration_ns;
}";

const PAGE: &str = "message page {
    REQUIRED BINARY kind (UTF8);
    REQUIRED BINARY page (UTF8);
    REQUIRED BINARY name (UTF8);
}";

/// A renamed page: its kind, its name in the rows, and its name in the report.
pub type Renamed = (PageKind, String, String);

/// A writer of rows into a directory.
pub struct Records {
    folder: PathBuf,
    log: ByteArray,
    rows: Vec<RecordRow>,
    file: Option<SerializedFileWriter<File>>,
    files: usize,
    groups: usize,
    /// The number of rows in complete files.
    written: u64,
    /// The number of rows in the current file.
    in_file: u64,
    /// The number of rows so far, including rows that were not written because of an error.
    all: u64,
    /// Pages that were renamed when pages were merged.
    renamed: Vec<Renamed>,
    /// The first error. It is reported at the end, because reading continues without records.
    error: Option<ParquetError>,
}

/// A row of a file, with the index of the row's page.
struct RecordRow {
    time_s: Option<i64>,
    offset_s: i32,
    page: usize,
    status: u16,
    bytes: u64,
    duration_ns: Option<u64>,
}

impl Records {
    /// Creates the directory. Returns an error if the directory cannot be created or already
    /// contains records.
    pub fn create(folder: &Path) -> io::Result<Records> {
        fs::create_dir_all(folder.join("records"))?;
        let is_empty = fs::read_dir(folder.join("records"))?.next().is_none();
        if !is_empty || folder.join("pages.parquet").exists() {
            return Err(io::Error::other(
                "the directory already contains records; specify another directory",
            ));
        }
        Ok(Records {
            folder: folder.to_path_buf(),
            log: ByteArray::from(""),
            rows: Vec::new(),
            file: None,
            files: 0,
            groups: 0,
            written: 0,
            in_file: 0,
            all: 0,
            renamed: Vec::new(),
            error: None,
        })
    }

    /// Begins a log.
    ///
    /// `pages` are the pages to which the rows so far refer.
    pub fn begin_log(&mut self, name: &str, pages: &[Page]) {
        self.flush(pages);
        self.log = ByteArray::from(name);
    }

    /// Adds an entry. `page` is the index of the entry's page in `pages`.
    pub fn add(&mut self, entry: &Entry, page: usize, pages: &[Page]) {
        self.rows.push(RecordRow {
            time_s: entry.time_s,
            offset_s: entry.offset_s,
            page,
            status: entry.status,
            bytes: entry.bytes,
            duration_ns: entry.duration_ns,
        });
        if self.rows.len() >= GROUP {
            self.flush(pages);
        }
    }

    /// Records that pages were merged under new names.
    pub fn rename(&mut self, pages: &[Page], renames: Vec<Renamed>) {
        self.flush(pages);
        self.renamed.extend(renames);
    }

    /// Writes the last rows and the table of pages.
    ///
    /// If writing failed, the error also says how many records were written.
    pub fn finish(mut self, pages: &[Page], renames: Vec<Renamed>) -> io::Result<()> {
        self.flush(pages);
        if let Err(e) = self.close() {
            self.give_up(e);
        }
        let path = self.folder.join("pages.parquet");
        let pages_written = write_pages(&path, &last_names(self.renamed, renames));
        if pages_written.is_err() {
            let _ = fs::remove_file(&path);
        }
        let error = self.error.or(pages_written.err());
        error.map_or(Ok(()), |e| {
            let (written, all) = (self.written, self.all);
            let reason = error_text(&e);
            Err(io::Error::other(format!(
                "{reason}; {written} of {all} records were written"
            )))
        })
    }

    fn flush(&mut self, pages: &[Page]) {
        let rows = std::mem::take(&mut self.rows);
        self.all += rows.len() as u64;
        if rows.is_empty() || self.error.is_some() {
            return;
        }
        if let Err(e) = self.write(&rows, pages) {
            self.give_up(e);
        }
    }

    fn write(&mut self, rows: &[RecordRow], pages: &[Page]) -> Result<(), ParquetError> {
        if self.file.is_none() {
            self.files += 1;
            self.file = Some(create(&self.path(), RECORD)?);
            self.groups = 0;
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let group = file.next_row_group()?;
        write_rows(group, rows, &self.log, pages)?;
        self.in_file += rows.len() as u64;
        self.groups += 1;
        if self.groups >= GROUPS {
            self.close()
        } else {
            Ok(())
        }
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        if let Some(file) = self.file.take() {
            file.close()?;
        }
        self.written += std::mem::take(&mut self.in_file);
        Ok(())
    }

    /// Stops writing, and removes the open file, which is unreadable without its footer.
    fn give_up(&mut self, e: ParquetError) {
        self.file = None;
        let _ = fs::remove_file(self.path());
        self.error = Some(e);
    }

    /// Returns the path of the current file.
    fn path(&self) -> PathBuf {
        self.folder
            .join(format!("records/{:06}.parquet", self.files))
    }
}

/// Returns the cause of an error without the library's wrapper text.
fn error_text(e: &ParquetError) -> String {
    match e {
        ParquetError::External(cause) => cause.to_string(),
        e => e.to_string(),
    }
}

fn create(path: &Path, schema: &str) -> Result<SerializedFileWriter<File>, ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let schema = Arc::new(parse_message_type(schema)?);
    SerializedFileWriter::new(File::create(path)?, schema, Arc::new(properties.build()))
}

/// Writes the columns of the rows in the order of the schema.
fn write_rows(
    mut group: SerializedRowGroupWriter<'_, File>,
    rows: &[RecordRow],
    log: &ByteArray,
    pages: &[Page],
) -> Result<(), ParquetError> {
    let times = rows
        .iter()
        .map(|r| Some(r.time_s?.saturating_mul(1_000_000)));
    let statuses = rows
        .iter()
        .map(|r| (r.status > 0).then_some(r.status.into()));
    let durations = rows.iter().map(|r| r.duration_ns.map(signed));
    let names: Vec<ByteArray> = pages.iter().map(|p| p.name.as_str().into()).collect();
    let kinds: Vec<ByteArray> = pages.iter().map(|p| word(p.kind).into()).collect();
    let kind = |r: &RecordRow| kinds[r.page].clone();
    optional_64(&mut group, times.collect())?;
    column(
        &mut group,
        ColumnValues::Int32(rows.iter().map(|r| r.offset_s).collect()),
    )?;
    column(
        &mut group,
        ColumnValues::Text(rows.iter().map(|_| log.clone()).collect()),
    )?;
    column(
        &mut group,
        ColumnValues::Text(rows.iter().map(kind).collect()),
    )?;
    column(
        &mut group,
        ColumnValues::Text(rows.iter().map(|r| names[r.page].clone()).collect()),
    )?;
    optional_32(&mut group, statuses.collect())?;
    column(
        &mut group,
        ColumnValues::Int64(rows.iter().map(|r| signed(r.bytes)).collect()),
    )?;
    optional_64(&mut group, durations.collect())?;
    group.close().map(drop)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The values of a column, without gaps for missing values.
enum ColumnValues {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Text(Vec<ByteArray>),
}

fn column(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: ColumnValues,
) -> Result<(), ParquetError> {
    put(group, values, None)
}

fn optional_32(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: Vec<Option<i32>>,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|v| v.is_some().into()).collect();
    put(
        group,
        ColumnValues::Int32(values.into_iter().flatten().collect()),
        Some(&levels),
    )
}

fn optional_64(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: Vec<Option<i64>>,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|v| v.is_some().into()).collect();
    put(
        group,
        ColumnValues::Int64(values.into_iter().flatten().collect()),
        Some(&levels),
    )
}

/// Writes a column.
///
/// `levels` contains 1 for each present value and 0 for each missing value.
fn put(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: ColumnValues,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let other = || ParquetError::General("the values do not match the type of the column".into());
    let mut column = group.next_column()?.ok_or_else(other)?;
    match (column.untyped(), values) {
        (ColumnWriter::Int32ColumnWriter(writer), ColumnValues::Int32(values)) => {
            writer.write_batch(&values, levels, None)?;
        }
        (ColumnWriter::Int64ColumnWriter(writer), ColumnValues::Int64(values)) => {
            writer.write_batch(&values, levels, None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), ColumnValues::Text(values)) => {
            writer.write_batch(&values, levels, None)?;
        }
        _ => return Err(other()),
    }
    column.close()
}

/// Returns the name in the report for each page name that a row can contain.
fn last_names(earlier: Vec<Renamed>, last: Vec<Renamed>) -> Vec<Renamed> {
    let last_names = last
        .iter()
        .map(|(kind, page, name)| ((*kind, page.as_str()), name));
    let last_names: HashMap<(PageKind, &str), &String> = last_names.collect();
    let last_name = |kind, name: &str| last_names.get(&(kind, name)).map(|name| (*name).clone());
    let earlier = earlier
        .into_iter()
        .filter(|(kind, page, _)| !last_names.contains_key(&(*kind, page.as_str())))
        .map(|(kind, page, name)| {
            let name = last_name(kind, &name).unwrap_or(name);
            (kind, page, name)
        });
    let earlier: Vec<Renamed> = earlier.collect();
    last.iter().cloned().chain(earlier).collect()
}

fn write_pages(path: &Path, pages: &[Renamed]) -> Result<(), ParquetError> {
    let mut file = create(path, PAGE)?;
    let mut group = file.next_row_group()?;
    let texts =
        |of: fn(&Renamed) -> &str| ColumnValues::Text(pages.iter().map(|p| of(p).into()).collect());
    column(&mut group, texts(|(kind, ..)| word(*kind)))?;
    column(&mut group, texts(|(_, page, _)| page))?;
    column(&mut group, texts(|(.., name)| name))?;
    group.close()?;
    file.close().map(drop)
}

fn word(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Page => "page",
        PageKind::Query => "query",
        PageKind::Bot => "bot",
        PageKind::Health => "health",
    }
}
