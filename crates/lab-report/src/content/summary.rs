// SPDX-License-Identifier: Apache-2.0
//! All points together: geometric means, verdicts counted, the control.

use crate::number::{self, Quantity, full};
use crate::table::{Cell, Table, Tone};
use crate::view::View;
use lab_stats::analysis::Verdict;

/// Each subject over all points, with its verdicts counted; no rows for whole commands at one point,
/// of which the sentences say as much.
pub fn overall_table(view: &View) -> Table {
    let ratio = format!("ratio to {}, geometric mean", view.baseline());
    let mut columns = vec![view.words.subject.to_string(), ratio, "points".into()];
    columns.extend(["faster", "slower", "equiv.", "small", "open"].map(String::from));
    let mut table = Table::new("Over all points", columns);
    if view.commands().is_some() && view.plan.points.len() == 1 {
        return table;
    }
    for overall in &view.analysis.overall {
        let mine = view.analysis.comparisons.iter();
        let mine = mine.filter(|c| c.subject == overall.subject);
        let counts = VerdictCounts::of(mine.map(|c| &c.verdict));
        let mut row: Vec<Cell> = vec![
            view.name(overall.subject).into(),
            full(Quantity::Ratio, &overall.ratio).into(),
            overall.points.to_string().into(),
        ];
        let counted = [
            counts.faster,
            counts.slower,
            counts.equivalent,
            counts.small,
            counts.open,
        ];
        row.extend(counted.map(|n| Cell::from(n.to_string())));
        table.rows.push(row);
    }
    table
}

/// The second copy of the baseline, point by point.
pub fn control_table(view: &View) -> Table {
    let title = format!(
        "The control: a second copy of {}, whose true ratio is 1",
        view.baseline()
    );
    let columns = ["point", "ratio", "margin used"].map(String::from);
    let mut table = Table::new(title, columns).text_column("noise floor");
    for control in &view.analysis.controls {
        let (word, tone) = if control.met {
            ("met", Tone::Plain)
        } else {
            ("not met", Tone::Alarm)
        };
        table.rows.push(vec![
            view.plan.label(control.point).into(),
            full(Quantity::Ratio, &control.ratio).into(),
            number::level(control.margin).into(),
            Cell::from(word).tone(tone),
        ]);
    }
    table
}

/// How many comparisons are inconclusive, and the blocks that would probably decide all of them.
pub fn undecided(view: &View) -> Option<String> {
    let needed = view
        .analysis
        .comparisons
        .iter()
        .filter_map(|c| match c.verdict {
            Verdict::Inconclusive { blocks_needed } => Some(blocks_needed),
            _ => None,
        });
    let needed: Vec<Option<u32>> = needed.collect();
    let decide = would_decide(view, &needed).unwrap_or_default();
    let all = view.analysis.comparisons.len();
    (!needed.is_empty()).then(|| {
        format!(
            "{} of {all} comparisons are inconclusive{decide}.",
            needed.len()
        )
    })
}

/// What would probably decide comparisons that need so many blocks: all of them, or half of them where
/// one needs more than a run could have.
fn would_decide(view: &View, needed: &[Option<u32>]) -> Option<String> {
    let mut known: Vec<u32> = needed.iter().flatten().copied().collect();
    known.sort_unstable();
    let most = view.plan.measure.max_blocks.max(80);
    let (blocks, of_them) = match known.last()? {
        &all if all <= most && known.len() == needed.len() => (all, "them"),
        _ => (*known.get(needed.len() / 2)?, "half of them"),
    };
    (blocks <= most).then(|| format!("; about {blocks} blocks would probably decide {of_them}"))
}

/// How many verdicts of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Faster.
    pub faster: usize,
    /// Slower.
    pub slower: usize,
    /// Equivalent.
    pub equivalent: usize,
    /// Small but real.
    pub small: usize,
    /// Inconclusive.
    pub open: usize,
}

impl VerdictCounts {
    /// Of a subject's verdicts, point by point.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Self {
        let mut counts = VerdictCounts::default();
        for verdict in verdicts {
            match verdict {
                Verdict::Faster => counts.faster += 1,
                Verdict::Slower => counts.slower += 1,
                Verdict::Equivalent => counts.equivalent += 1,
                Verdict::SmallButReal { .. } => counts.small += 1,
                Verdict::Inconclusive { .. } => counts.open += 1,
            }
        }
        counts
    }
}
