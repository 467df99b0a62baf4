// SPDX-License-Identifier: Apache-2.0
//! Workloads of the user's own SQL: a TOML or a `.sql` file with a schema, data, and statements with parameters
//! (docs/guides/own-sql.md).

mod csv;
mod in_sql;
mod in_toml;
mod rows;
mod source;
mod sql_text;

pub use rows::literal;

use crate::PlanError;
use crate::case::{Case, Factor, Values};
use crate::experiment::Experiment;
use crate::file::Count;
use csv::Table as CsvTable;
use lab_model::{
    Check, Cores, NO_VARIANT, Point, SetupStatement, SqlParameter, SqlSetup, SqlStatement, SqlType,
    SqlWork, SqlWorkload, TargetId, TargetKind, VARIANT,
};
use sha2::{Digest, Sha256};
use source::{Source, is_name, mix};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The maximum size of a workload's file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The maximum size of all CSV files in bytes.
const MAX_CSV: u64 = 64 << 20;

/// The maximum number of generated rows of all tables.
const MAX_ROWS: u64 = 1_000_000;

/// The maximum size of the generated values of all tables in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The maximum number of cases.
const MAX_CASES: usize = 100;

/// The maximum number of statements in a case.
const MAX_STATEMENTS: usize = 20;

/// The maximum number of parameters in the texts of a case.
const MAX_PARAMETERS: usize = 100;

/// The maximum length of the texts of a case in bytes. Encoded, they fit into a line of the protocol.
const MAX_TEXT: usize = 16_000;

/// The maximum number of variants.
const MAX_VARIANTS: usize = 8;

/// The number of operations with different values.
const INPUTS: u64 = 4096;

/// The first words of statements that subjects can run.
const RUN: [&str; 7] = [
    "select", "with", "insert", "update", "delete", "replace", "merge",
];

/// Reads a file that a workload names, with a maximum size in bytes.
pub type ReadFile<'a> = &'a dyn Fn(&Path, u64) -> std::io::Result<Vec<u8>>;

/// A workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The title, or the name of the file.
    pub title: String,
    /// The file.
    pub model: SqlWorkload,
    /// The statements that create the schema, by target.
    schema: BTreeMap<TargetKind, Vec<SetupStatement>>,
    tables: Vec<Table>,
    cases: Vec<OwnCase>,
}

/// A text that is the same for all targets, or one for each.
#[derive(Clone, Debug)]
enum PerTarget<T> {
    All(T),
    Each(BTreeMap<TargetKind, T>),
}

impl<T> PerTarget<T> {
    fn on(&self, kind: TargetKind) -> Option<&T> {
        match self {
            PerTarget::All(text) => Some(text),
            PerTarget::Each(each) => each.get(&kind),
        }
    }
}

/// A table to fill.
#[derive(Clone, Debug)]
struct Table {
    name: String,
    /// The position in the file, such as `shop.toml:7`.
    origin: String,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    Csv(CsvTable),
    Generated {
        rows: u64,
        columns: Vec<(String, Source)>,
    },
}

/// A case of the user's.
#[derive(Clone, Debug)]
struct OwnCase {
    name: String,
    work: PerTarget<SqlWork>,
}

/// A case as a file defines it.
struct FileCase {
    name: String,
    name_span: Range<usize>,
    /// The texts with their offsets in the file: of a statement that has one line there, its exact position.
    texts: PerTarget<Text>,
    parameters: Vec<FileParameter>,
}

/// A text in the file.
#[derive(Clone, Debug)]
struct Text {
    text: String,
    /// The position of the text in the file.
    span: Range<usize>,
    /// True if the text is in the file as it is, so that positions in it are known.
    verbatim: bool,
}

struct FileParameter {
    name: String,
    source: String,
    span: Range<usize>,
}

/// A file that is being read.
struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Workload {
    /// Reads the file of a workload, and the CSV files that it names.
    ///
    /// # Errors
    /// Returns an error with the file and the line.
    pub fn read(path: &Path, variants: &[String]) -> Result<Workload, PlanError> {
        let read = |path: &Path, most: u64| {
            let size = std::fs::metadata(path)?.len();
            if size > most {
                let message = format!("the file has more than {most} bytes");
                return Err(std::io::Error::other(message));
            }
            std::fs::read(path)
        };
        let bytes = read(path, MAX_FILE).map_err(|e| cannot_read(path, &e))?;
        Workload::parse(path, &bytes, variants, &read)
    }

    /// Parses the file of a workload.
    ///
    /// # Errors
    /// Returns an error with the file and the line.
    pub fn parse(
        path: &Path,
        bytes: &[u8],
        variants: &[String],
        read: ReadFile,
    ) -> Result<Workload, PlanError> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let valid = String::from_utf8_lossy(&bytes[..e.valid_up_to()]).into_owned();
            PlanError::at(path, &valid, valid.len()..valid.len(), "the file is not UTF-8 here")
        })?;
        let file = Reading { path, text };
        let mut hash = Sha256::new();
        hash.update(bytes);
        let mut workload = Workload {
            title: file.name(),
            model: SqlWorkload {
                name: file.name(),
                file: path.display().to_string(),
                ..SqlWorkload::default()
            },
            schema: BTreeMap::new(),
            tables: Vec::new(),
            cases: Vec::new(),
        };
        let is_sql = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sql"));
        let cases = if is_sql {
            in_sql::read(&file, &mut workload)?
        } else {
            in_toml::read(&file, &mut workload, read, &mut hash)?
        };
        if cases.is_empty() {
            return Err(PlanError::of_request(format!(
                "{}: a workload needs at least one case: {}",
                path.display(),
                if is_sql { "`-- case: NAME` before its statement" } else { "[[case]]" }
            )));
        }
        if cases.len() > MAX_CASES {
            return Err(file.at(cases[MAX_CASES].name_span.clone(), format!("a workload has at most {MAX_CASES} cases")));
        }
        let mut names = HashSet::new();
        for case in cases {
            if !names.insert(case.name.clone()) {
                return Err(file.at(case.name_span, format!("two cases are named `{}`", case.name)));
            }
            workload.cases.push(file.case(case)?);
        }
        workload.check_columns()?;
        workload.model.variants = named_variants(variants)?;
        workload.model.sha256 = format!("{:x}", hash.finalize());
        Ok(workload)
    }

    /// Returns the experiment with the workload's cases instead of its own.
    ///
    /// # Errors
    /// Returns an error if the experiment's subjects cannot run workloads.
    pub fn applied_to(&self, experiment: Experiment) -> Result<Experiment, PlanError> {
        if !experiment.workloads {
            return Err(PlanError::of_request(format!(
                "--workload: the subjects of `{}` do not run SQL of your own; `benchlab run sql` does",
                experiment.name
            )));
        }
        let kinds: Vec<TargetKind> = experiment.targets.iter().map(|t| t.kind).collect();
        let case = |case: &OwnCase| self.case(case, &kinds);
        let mut subjects = experiment.subjects.clone();
        // A subject of single cases, such as a variant for transactions, is about the experiment's own cases.
        subjects.retain(|subject| subject.model.cases.is_empty());
        Ok(Experiment {
            title: format!("{} on {}", self.title, titles(&kinds)),
            question: format!("What do the statements of {} cost in each language?", self.model.name),
            cases: self.cases.iter().map(case).collect(),
            subjects,
            workload: Some(self.clone()),
            ..experiment
        })
    }

    fn case(&self, case: &OwnCase, kinds: &[TargetKind]) -> Case {
        let on = |(index, kind): (usize, &TargetKind)| {
            Some((TargetId::from_index(index), case.work.on(*kind)?.clone()))
        };
        let sql: Vec<(TargetId, SqlWork)> = kinds.iter().enumerate().filter_map(on).collect();
        let targets: Vec<TargetId> = sql.iter().map(|(target, _)| *target).collect();
        let writes = sql.iter().any(|(_, work)| work.writes());
        let described = sql.first().map_or(String::new(), |(_, work)| describe(work));
        let variants = self.model.variants.iter().map(|(name, _)| name.clone());
        let factor = Factor {
            name: VARIANT.into(),
            values: std::iter::once(NO_VARIANT.to_owned()).chain(variants).collect(),
            targets: targets.clone(),
            absent: Vec::new(),
        };
        Case {
            name: case.name.clone(),
            work: described,
            unit: "row".into(),
            sweep: None,
            factors: if factor.values.len() > 1 { vec![factor] } else { Vec::new() },
            targets,
            thin: BTreeMap::new(),
            check: if writes { Check::Writes } else { Check::Reads },
            empty: false,
            cores: Cores::One,
            turn_ns: None,
            latencies: false,
            rate: None,
            default: true,
            quick: Some(Values::new()),
            usual: Some(Values::new()),
            compare: true,
            metrics: Vec::new(),
            observed: Vec::new(),
            statements: Vec::new(),
            reads: Count::Number(0),
            writes: None,
            sql,
        }
    }

    /// Returns the statements that create the schema and load the data on a kind of target.
    pub fn setup(&self, kind: TargetKind, seed: u64) -> SqlSetup {
        let mut statements = self.schema.get(&kind).cloned().unwrap_or_default();
        for table in &self.tables {
            let texts = rows::statements(self, table, kind, seed);
            statements.extend(texts.into_iter().map(|text| SetupStatement {
                text,
                origin: table.origin.clone(),
            }));
        }
        let variant = |(name, text): &(String, String)| {
            let origin = format!("--variant {name}");
            (name.clone(), SetupStatement { text: text.clone(), origin })
        };
        SqlSetup {
            statements: statements.into(),
            variants: self.model.variants.iter().map(variant).collect(),
        }
    }

    fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Returns an error if a generated column draws from a column whose values are not known when it is generated.
    fn check_columns(&self) -> Result<(), PlanError> {
        let (mut total, mut bytes) = (0_u64, 0_u64);
        for (index, table) in self.tables.iter().enumerate() {
            let Data::Generated { rows, columns } = &table.data else {
                continue;
            };
            total = total.saturating_add(*rows);
            bytes = bytes.saturating_add(columns.iter().map(|(_, source)| rows.saturating_mul(source.max_length())).fold(0, u64::saturating_add));
            if total > MAX_ROWS || bytes > MAX_BYTES {
                return Err(PlanError::of_request(format!(
                    "{}: expected at most {MAX_ROWS} generated rows of at most {} MiB in all tables",
                    table.origin,
                    MAX_BYTES >> 20
                )));
            }
            for (name, source) in columns {
                let Source::Column(other, column) = source else {
                    continue;
                };
                let earlier = self.tables[..index].iter().find(|table| table.name == *other);
                let is_known = earlier.is_some_and(|table| match &table.data {
                    Data::Csv(csv) => csv.columns.contains(column) && !csv.rows.is_empty(),
                    Data::Generated { columns, .. } => columns.iter().any(|(name, _)| name == column),
                });
                if !is_known {
                    return Err(PlanError::of_request(format!(
                        "{}: column `{name}` of `{}` draws from `{other}.{column}`, which no earlier [[table]] \
                         fills; use a range, such as `1..1000`",
                        table.origin, table.name
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Computes the values to bind for each operation. `columns` has the values of each parameter that draws from a column.
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
        let values = values.ok_or_else(|| format!("`{table}.{column}` has no values to draw from"))?;
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

/// Adds the work of an operation to a point: the statements that the database must count, and the maximum number of
/// commits.
pub(crate) fn describe_point(point: &mut Point, work: &SqlWork, kind: Option<TargetKind>) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for statement in &work.statements {
        let mut word = statement.first_word();
        // MariaDB counts a common table expression by the statement that follows.
        if word == "with" && kind == Some(TargetKind::Mariadb) {
            word = "select".into();
        }
        *counts.entry(word).or_default() += 1;
    }
    let writing = work.statements.iter().filter(|s| s.writes()).count() as u64;
    if work.transaction {
        counts.insert("commit".into(), 1);
    }
    point.statements = counts.into_iter().collect();
    point.writes.transactions = if work.transaction { writing.min(1) } else { writing };
    point.sql = Some(work.clone());
}

/// Returns the table and the column that a parameter draws from, if it draws from one.
pub fn column_of(parameter: &SqlParameter) -> Option<(String, String)> {
    match Source::parse(&parameter.source) {
        Ok(Source::Column(table, column)) => Some((table, column)),
        _ => None,
    }
}

/// Returns the type with which the values of a parameter are bound, unless it draws from a column. SQLite has no
/// decimals.
pub fn kind_of(parameter: &SqlParameter, target: TargetKind) -> Option<SqlType> {
    Some(match Source::parse(&parameter.source).ok()? {
        Source::Sequence(_) | Source::Integers(..) => SqlType::Integer,
        Source::Decimals { .. } => bound_as(SqlType::Decimal, target),
        Source::Days(..) | Source::Words(_) | Source::Text(..) => SqlType::Text,
        Source::Column(..) => return None,
    })
}

/// Returns the type with which a value of a column is bound.
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

/// Describes an operation in one line.
fn describe(work: &SqlWork) -> String {
    let statements = work.statements.iter();
    let texts = statements.map(|s| {
        let text = s.written(&work.parameters);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    let all = texts.collect::<Vec<_>>().join("; ");
    if work.transaction { format!("one transaction: {all}") } else { all }
}

fn titles(kinds: &[TargetKind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.title()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the variants with their names: `NAME: SQL`, or the name of the index that the statement creates.
fn named_variants(variants: &[String]) -> Result<Vec<(String, String)>, PlanError> {
    if variants.len() > MAX_VARIANTS {
        return Err(PlanError::of_request(format!("--variant: at most {MAX_VARIANTS} variants can be compared")));
    }
    let mut named: Vec<(String, String)> = Vec::new();
    for (number, variant) in (1..).zip(variants) {
        let given = variant.split_once(':').filter(|(name, _)| is_case_name(name));
        let (name, text) = match given {
            Some((name, text)) => (name.to_owned(), text.trim()),
            None => (name_of_index(variant).unwrap_or(format!("variant-{number}")), variant.trim()),
        };
        let wrong = |reason: String| Err(PlanError::of_request(format!("--variant '{variant}': {reason}")));
        match sql_text::statements(text) {
            Err((_, what)) => return wrong(format!("{what} does not end")),
            Ok(found) if found.len() != 1 => return wrong("expected one statement, such as CREATE INDEX …".into()),
            Ok(_) => {}
        }
        if name == NO_VARIANT || named.iter().any(|(other, _)| *other == name) {
            return wrong(format!("the name `{name}` is already in use; write NAME: {text}"));
        }
        named.push((name, text.trim_end_matches(';').to_owned()));
    }
    Ok(named)
}

/// Returns the name of the index that a statement creates, if it is a valid name of a value.
fn name_of_index(statement: &str) -> Option<String> {
    let lower = statement.to_ascii_lowercase();
    let mut words = lower.split_whitespace().skip_while(|word| *word != "index").skip(1);
    let name = words.find(|word| !["if", "not", "exists", "concurrently"].contains(word))?;
    let name = name.trim_matches(['"', '`']);
    (is_case_name(name) && name != "on").then(|| name.to_owned())
}

fn is_case_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> PlanError {
    PlanError::of_request(format!("cannot read {}: {error}", path.display()))
}

impl Reading<'_> {
    fn at(&self, span: Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::at(self.path, self.text, span, message)
    }

    /// Returns the name of the file without its ending.
    fn name(&self) -> String {
        self.path.file_stem().map_or("workload".into(), |name| name.to_string_lossy().into_owned())
    }

    /// Returns a position for messages, such as `shop.toml:7`.
    fn origin(&self, at: usize) -> String {
        let line = self.text[..at.min(self.text.len())].matches('\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }

    /// Returns the path of a file that the workload names, relative to the workload.
    fn beside(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }

    /// Returns the position in the file of a position in a text.
    fn within(&self, text: &Text, span: &Range<usize>) -> Range<usize> {
        if text.verbatim {
            text.span.start + span.start..text.span.start + span.end
        } else {
            text.span.clone()
        }
    }

    fn statements(&self, text: &Text) -> Result<Vec<sql_text::Found>, PlanError> {
        sql_text::statements(&text.text).map_err(|(span, what)| {
            let start = span.start..span.start + 1;
            self.at(self.within(text, &start), format!("{what} begins here and does not end"))
        })
    }

    /// Returns the statements of a schema.
    fn schema(&self, text: &Text) -> Result<Vec<SetupStatement>, PlanError> {
        let found = self.statements(text)?;
        let statement = |found: sql_text::Found| SetupStatement {
            text: text.text[found.span.clone()].to_owned(),
            origin: self.origin(self.within(text, &found.span).start),
        };
        Ok(found.into_iter().map(statement).collect())
    }

    fn case(&self, case: FileCase) -> Result<OwnCase, PlanError> {
        if !is_case_name(&case.name) {
            let reason = format!(
                "invalid name `{}`: expected at most 40 lowercase letters, digits, - and _, with a letter first",
                case.name
            );
            return Err(self.at(case.name_span, reason));
        }
        let mut parameters: Vec<SqlParameter> = Vec::new();
        for parameter in &case.parameters {
            if !is_name(&parameter.name) || parameters.iter().any(|p| p.name == parameter.name) {
                let reason = format!("`{}` is not a new name of a parameter", parameter.name);
                return Err(self.at(parameter.span.clone(), reason));
            }
            Source::parse(&parameter.source).map_err(|e| self.at(parameter.span.clone(), e))?;
            let has_control = parameter.source.chars().any(char::is_control);
            if has_control {
                let reason = "a value must not contain control characters, such as a tab or a line break";
                return Err(self.at(parameter.span.clone(), reason));
            }
            parameters.push(SqlParameter {
                name: parameter.name.clone(),
                source: parameter.source.trim().to_owned(),
                kind: SqlType::default(),
            });
        }
        let work = |text: &Text| self.work(text, &case, &parameters);
        let work = match &case.texts {
            PerTarget::All(text) => PerTarget::All(work(text)?),
            PerTarget::Each(each) => {
                let each = each.iter().map(|(kind, text)| Ok((*kind, work(text)?)));
                PerTarget::Each(each.collect::<Result<_, PlanError>>()?)
            }
        };
        let used = |name: &str| {
            let uses = |work: &SqlWork| work.parameters.iter().any(|p| p.name == name);
            match &work {
                PerTarget::All(work) => uses(work),
                PerTarget::Each(each) => each.values().any(uses),
            }
        };
        if let Some(unused) = case.parameters.iter().find(|p| !used(&p.name)) {
            let reason = format!("no statement of `{}` uses `:{}`", case.name, unused.name);
            return Err(self.at(unused.span.clone(), reason));
        }
        Ok(OwnCase { name: case.name, work })
    }

    /// Returns the work of an operation from its text. BEGIN and COMMIT around all statements make it a transaction.
    fn work(
        &self,
        text: &Text,
        case: &FileCase,
        parameters: &[SqlParameter],
    ) -> Result<SqlWork, PlanError> {
        let mut found = self.statements(text)?;
        let is = |found: Option<&sql_text::Found>, words: &[&str]| {
            found.is_some_and(|found| words.contains(&found.first_word.as_str()))
        };
        let begins = is(found.first(), &["begin", "start"]);
        let commits = is(found.last(), &["commit", "end"]);
        if begins != commits {
            let reason = "a transaction begins with BEGIN and ends with COMMIT, around all statements of the case";
            return Err(self.at(text.span.clone(), reason));
        }
        if begins {
            found.remove(0);
            found.pop();
        }
        if found.is_empty() {
            let reason = format!("`{}` has no statement", case.name);
            return Err(self.at(text.span.clone(), reason));
        }
        let length: usize = found.iter().map(|f| f.span.len()).sum();
        if found.len() > MAX_STATEMENTS || length > MAX_TEXT {
            let reason = format!(
                "a case has at most {MAX_STATEMENTS} statements and {MAX_TEXT} bytes of SQL; `{}` has {} and {length}",
                case.name,
                found.len()
            );
            return Err(self.at(text.span.clone(), reason));
        }
        if found.iter().map(|f| f.parameters.len()).sum::<usize>() > MAX_PARAMETERS {
            let reason = format!("the statements of a case have at most {MAX_PARAMETERS} parameters");
            return Err(self.at(text.span.clone(), reason));
        }
        let mut work = SqlWork {
            transaction: begins,
            ..SqlWork::default()
        };
        for found in found {
            if !RUN.contains(&found.first_word.as_str()) {
                let reason = format!(
                    "a statement of a case begins with {}; found `{}`",
                    RUN.map(str::to_uppercase).join(", "),
                    found.first_word
                );
                return Err(self.at(self.within(text, &found.span), reason));
            }
            if text.text[found.span.clone()].contains('\0') {
                return Err(self.at(self.within(text, &found.span), "a statement must not contain a NUL"));
            }
            let mut statement = SqlStatement::default();
            let mut at = found.span.start;
            for span in &found.parameters {
                let name = &text.text[span.start + 1..span.end];
                let Some(parameter) = parameters.iter().find(|p| p.name == name) else {
                    let reason = format!("`:{name}` has no values: add it to the parameters of `{}`", case.name);
                    let error = self.at(self.within(text, span), reason);
                    return Err(error.with_nearest(name, parameters.iter().map(|p| p.name.as_str())));
                };
                let known = work.parameters.iter().position(|p| p.name == name);
                let index = known.unwrap_or_else(|| {
                    work.parameters.push(parameter.clone());
                    work.parameters.len() - 1
                });
                statement.pieces.push(text.text[at..span.start].to_owned());
                statement.uses.push(index);
                at = span.end;
            }
            statement.pieces.push(text.text[at..found.span.end].to_owned());
            work.statements.push(statement);
        }
        Ok(work)
    }
}

#[cfg(test)]
mod tests;
