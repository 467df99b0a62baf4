// SPDX-License-Identifier: Apache-2.0
//! Short text outlines of documents, for snapshots.

use lab_document::{Cell, CellContent, Chart, Document, Drawing, Item, Quantity, Section, Table};
use std::fmt::Write;

/// Outlines a document: texts in full, tables and charts abbreviated.
pub fn outline(document: &Document) -> String {
    let mut text = format!("# {}\n", document.title);
    let _ = writeln!(text, "question: {}", document.question);
    let _ = writeln!(
        text,
        "made: {} by {}",
        document.made, document.benchlab_version
    );
    let _ = writeln!(text, "answer: {}", document.answer.split().0);
    if let Some(table) = &document.answer.table {
        self::table(&mut text, table);
    }
    if let Some(chart) = &document.answer.chart {
        self::chart(&mut text, chart);
    }
    if let Some(chart) = &document.answer.distribution {
        self::chart(&mut text, chart);
    }
    for finding in &document.answer.findings {
        let _ = writeln!(
            text,
            "! [{}] {} ({})",
            finding.label,
            finding.text,
            finding.tone.word()
        );
    }
    let undecided = document.answer.undecided.as_deref();
    let _ = writeln!(text, "undecided: {}", undecided.unwrap_or("nothing"));
    if let Some(omitted) = &document.answer.omitted {
        let _ = writeln!(text, "omitted: {omitted}");
    }
    for section in &document.sections {
        self::section(&mut text, section, 2);
    }
    let _ = writeln!(text, "rows: {}", document.rows.len());
    for row in document
        .rows
        .iter()
        .step_by((document.rows.len() / 12).max(1))
    {
        let _ = writeln!(
            text,
            "  {} {} {} {} {:?} {} {} {} p={} {} {:?} {}",
            row.run,
            row.subject,
            row.role,
            row.case,
            row.params,
            row.metric.id,
            row.value.as_ref().map_or("-".into(), quantity_text),
            row.ratio.as_ref().map_or("-".into(), quantity_text),
            row.p.map_or("-".into(), |p| format!("{p:.4}")),
            row.verdict,
            row.blocks,
            row.note
        );
    }
    let _ = writeln!(text, "source: {}", document.source);
    text
}

fn section(text: &mut String, section: &Section, level: usize) {
    let _ = writeln!(
        text,
        "\n{} {} ({:?})",
        "#".repeat(level),
        section.title,
        section.detail
    );
    for item in &section.items {
        match item {
            Item::Paragraph(words) => writeln!(text, "{words}"),
            Item::List(items) => writeln!(text, "- {}", items.join("\n- ")),
            Item::Facts(facts) => facts
                .iter()
                .try_for_each(|(name, value)| writeln!(text, "  {name} = {value}")),
            Item::Finding(between) => {
                writeln!(
                    text,
                    "! [{}] {} ({})",
                    between.label,
                    between.text,
                    between.tone.word()
                )
            }
            Item::Log(lines) => lines
                .iter()
                .try_for_each(|line| writeln!(text, "  | {line}")),
            Item::Table(table) => {
                self::table(text, table);
                Ok(())
            }
            Item::Chart(chart) => {
                self::chart(text, chart);
                Ok(())
            }
        }
        .expect("writing to a string cannot fail");
    }
    for part in &section.sections {
        self::section(text, part, level + 1);
    }
}

/// Outlines a table: the heading, the first three rows and the last row.
fn table(text: &mut String, table: &Table) {
    assert!(table.caption.ends_with('.'), "what {:?} shows", table.title);
    let _ = writeln!(
        text,
        "table \"{}\": {} rows. {}",
        table.title,
        table.rows.len(),
        table.caption
    );
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|c| match &c.unit {
            Some(unit) => format!("{} [{unit:?}]", c.title),
            None => c.title.clone(),
        })
        .collect();
    let _ = writeln!(text, "  {}", columns.join(" | "));
    for (i, row) in table.rows.iter().enumerate() {
        if i < 3 || i + 1 == table.rows.len() {
            let cells: Vec<String> = row.iter().map(cell).collect();
            let _ = writeln!(text, "  {}", cells.join(" | "));
        }
    }
    for note in &table.notes {
        let _ = writeln!(text, "  note: {note}");
    }
}

fn cell(cell: &Cell) -> String {
    let words = match &cell.content {
        CellContent::Empty => String::new(),
        CellContent::Words(words) => words.clone(),
        CellContent::Quantity(quantity) => quantity_text(quantity),
    };
    let note = if cell.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", cell.note)
    };
    words + &note
}

fn quantity_text(quantity: &Quantity) -> String {
    let value = quantity.value;
    match quantity.bounds() {
        Some((low, high)) => format!("{value:.4} [{low:.4}, {high:.4}]"),
        None => format!("{value:.4}"),
    }
}

fn chart(text: &mut String, chart: &Chart) {
    assert!(chart.caption.ends_with('.'), "what {:?} shows", chart.title);
    let _ = writeln!(
        text,
        "chart {} \"{}\": {}",
        chart.id, chart.title, chart.caption
    );
    match &chart.drawing {
        Drawing::Forest(forest) => {
            for group in &forest.groups {
                let rows: Vec<String> = group
                    .rows
                    .iter()
                    .map(|r| {
                        format!(
                            "{} {} {} {}",
                            r.name,
                            quantity_text(&r.value),
                            r.tone.word(),
                            r.label
                        )
                    })
                    .collect();
                let _ = writeln!(text, "  {}: {}", group.title, rows.join("; "));
            }
        }
        Drawing::Bars(bars) => {
            for row in &bars.rows {
                let parts: Vec<String> = row
                    .parts
                    .iter()
                    .map(|p| format!("{} {}", bars.parts[p.part].0, quantity_text(&p.value)))
                    .collect();
                let _ = writeln!(
                    text,
                    "  {} {} {} {}",
                    row.group,
                    row.name,
                    quantity_text(&row.total),
                    parts.join(", ")
                );
            }
        }
        Drawing::Lines(lines) => {
            for line in &lines.lines {
                let last = line
                    .points
                    .last()
                    .map(|(x, y)| format!("{x} {}", quantity_text(y)));
                let _ = writeln!(
                    text,
                    "  {} {:?}: {} points to {}",
                    line.name,
                    line.stroke,
                    line.points.len(),
                    last.unwrap_or_default()
                );
            }
        }
        Drawing::Heat(heat) => {
            for map in &heat.maps {
                let _ = writeln!(text, "  {}: {} columns", map.name, map.columns.len());
            }
        }
        Drawing::Flame(of) => {
            let _ = writeln!(text, "  {} stacks", of.stacks.len());
        }
        Drawing::Distribution(of) => {
            for line in &of.lines {
                let _ = writeln!(text, "  {}: {} values", line.name, line.counts.len());
            }
        }
    }
}
