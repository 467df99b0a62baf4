// SPDX-License-Identifier: Apache-2.0
//! CSV files (RFC 4180) whose first line has the column names. An empty field is NULL, and `""` is
//! an empty text.

use super::source::is_name;

/// The contents of a CSV file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows. `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

/// Parses a CSV file.
///
/// # Errors
/// Returns the number of the line and a message.
pub fn parse(text: &str) -> Result<Table, (usize, String)> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut records = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let (record, length) = record(rest).map_err(|message| (line, message))?;
        records.push((line, record));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    let mut records = records.into_iter();
    let Some((_, header)) = records.next() else {
        return Err((
            1,
            "the file is empty: the first line must contain the names of the columns".into(),
        ));
    };
    let columns: Vec<String> = header.into_iter().map(Option::unwrap_or_default).collect();
    if let Some(wrong) = columns.iter().find(|name| !is_name(name)) {
        return Err((
            1,
            format!("invalid column name `{wrong}`: expected letters, digits and _"),
        ));
    }
    let mut rows = Vec::new();
    for (line, row) in records {
        if row.len() != columns.len() {
            let fields = |n: usize| match n {
                1 => "1 field".to_owned(),
                n => format!("{n} fields"),
            };
            let message = format!(
                "the line has {}, but the first line has {}",
                fields(row.len()),
                fields(columns.len())
            );
            return Err((line, message));
        }
        if row.iter().flatten().any(|field| field.contains('\0')) {
            return Err((line, "a field contains a NUL".into()));
        }
        rows.push(row);
    }
    Ok(Table { columns, rows })
}

/// Returns the fields of the first record, and the record's length in bytes including its line end.
fn record(text: &str) -> Result<(Vec<Option<String>>, usize), String> {
    let (mut fields, mut at) = (Vec::new(), 0);
    loop {
        let rest = &text[at..];
        if let Some(quoted) = rest.strip_prefix('"') {
            let (field, length) = quoted_field(quoted)?;
            fields.push(Some(field));
            at += 1 + length;
        } else {
            let length = rest.find([',', '\n', '\r']).unwrap_or(rest.len());
            let field = &rest[..length];
            fields.push((!field.is_empty()).then(|| field.to_owned()));
            at += length;
        }
        let rest = &text[at..];
        if rest.starts_with(',') {
            at += 1;
            continue;
        }
        let end = ["\r\n", "\n", "\r"]
            .into_iter()
            .find(|end| rest.starts_with(end));
        return match (end, rest.is_empty()) {
            (Some(end), _) => Ok((fields, at + end.len())),
            (None, true) => Ok((fields, at)),
            (None, false) => {
                Err("expected a comma or the end of the line after a quoted field".into())
            }
        };
    }
}

/// Returns the quoted field that continues after the opening quote, and its length in bytes
/// including the closing quote.
fn quoted_field(text: &str) -> Result<(String, usize), String> {
    let (mut field, mut at) = (String::new(), 0);
    loop {
        let Some(found) = text[at..].find('"') else {
            return Err("a quoted field is not closed".into());
        };
        field += &text[at..at + found];
        at += found + 1;
        if !text[at..].starts_with('"') {
            return Ok((field, at));
        }
        field.push('"');
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_texts_or_nulls() {
        let table = parse("id,name\r\n1,\"a, \"\"b\"\"\nc\"\n2,\n3,\"\"").unwrap();
        assert_eq!(table.columns, ["id", "name"]);
        let row = |id: &str, name: Option<&str>| vec![Some(id.to_owned()), name.map(str::to_owned)];
        assert_eq!(
            table.rows,
            [
                row("1", Some("a, \"b\"\nc")),
                row("2", None),
                row("3", Some(""))
            ]
        );
    }

    #[test]
    fn a_malformed_file_is_reported_with_its_line() {
        let line = |text: &str| parse(text).unwrap_err().0;
        assert_eq!(line(""), 1);
        assert_eq!(line("a,b b\n"), 1);
        assert_eq!(line("a,b\n1,2\n3\n"), 3);
        assert_eq!(line("a\n\"x\ny\"\n\"z"), 4);
        assert_eq!(line("a\n\"x\"y\n"), 2);
        assert_eq!(line("a\n\0\n"), 2);
    }
}
