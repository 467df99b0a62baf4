// SPDX-License-Identifier: Apache-2.0
//! How a run was measured, in sentences, and what its number of blocks supports.

use super::commands::{cores, extent, pairs};
use super::count;
use crate::number::{self, Quantity};
use crate::view::View;
use lab_model::plan::Cores;
use lab_model::{Ending, PointId, Run};

/// How it was measured, in sentences.
pub fn method(view: &View) -> Vec<String> {
    let analysis = view.analysis;
    let mut text = vec![
        turns(view),
        format!(
            "Times are typical times: the median over blocks of the interquartile mean. The whole time counts \
             every pause. Ratios are Hodges-Lehmann estimates over blocks with Wilcoxon signed-rank intervals, \
             simultaneous within a point; asked for: {}, margin {}.",
            number::level(analysis.level),
            number::level(analysis.margin),
        ),
    ];
    if let Some(disturbed) = redone(view) {
        text.push(disturbed);
    }
    if let Some((cpu_ns, rss_bytes)) = view.run.lab_cost {
        text.push(format!(
            "The lab itself used {} of CPU time and at most {} of memory (single readings).",
            number::single(Quantity::Time, cpu_ns as f64),
            number::single(Quantity::Size, rss_bytes as f64),
        ));
    }
    text.push(format!("The seed was {}.", view.plan.seed));
    text
}

/// Who took turns with whom, where, and how often.
fn turns(view: &View) -> String {
    let measure = &view.plan.measure;
    let blocks = count(view.analysis.blocks as usize, "block");
    let Some(commands) = view.commands() else {
        return format!(
            "In each of {blocks}, fresh processes of all subjects took turns of about {} on the same core: {} mirrored \
             pairs of passes for each point, frozen while idle.{} {}",
            number::single(Quantity::Time, measure.turn_ns as f64),
            measure.pairs,
            at_once(view),
            ending(view.run),
        );
    };
    let place = match cores(view) {
        Some(Cores::One) => "on the same core",
        Some(Cores::All) => "wherever the system put them",
        None => "in turn",
    };
    let input = commands.input.as_deref().unwrap_or("/dev/null");
    let checked = match (commands.same_output, commands.ignore_failure) {
        (true, _) => " The output of every run was that of the baseline.",
        (false, true) => " Runs that ended with another status than 0 count like any other.",
        (false, false) => "",
    };
    format!(
        "In each of {blocks}, the commands were run one after the other {place}, in a random order and back \
         again: {} of passes for each point, a fresh process each time, with {input} on its standard input.{checked} {}",
        pairs(view),
        ending(view.run),
    )
}

/// How cases that do several operations at once were measured, on this target or another.
fn at_once(view: &View) -> String {
    let whole = view.report.run.plan.as_ref();
    let mut cases = whole.into_iter().flat_map(|plan| &plan.cases);
    let case = cases.find(|case| case.cores == Cores::All);
    case.map_or(String::new(), |case| {
        format!(
            " Those of {}, which do several operations at once, were of about {} and on all cores.",
            case.name,
            number::single(
                Quantity::Time,
                case.turn_ns.unwrap_or(view.plan.measure.turn_ns) as f64
            ),
        )
    })
}

/// `24 blocks; intervals of 95 %, simultaneous over the subjects of a point; margin 2 %.`
pub fn conditions_line(view: &View) -> String {
    if view.commands().is_some() {
        return extent(view);
    }
    let redone = match view.analysis.disturbed_blocks {
        0 => String::new(),
        n => format!(", {n} redone because the host disturbed them"),
    };
    let points: Vec<PointId> = (0..view.plan.points.len()).collect();
    let reached = low_levels(view, &points).map_or(String::new(), |(least, most)| {
        format!(" asked for and of {} reached", range(least, most))
    });
    let ratios = match view.compares() {
        true => format!(
            ", simultaneous over the {} of a point; margin {}",
            view.words.subjects,
            number::level(view.analysis.margin)
        ),
        false => String::new(),
    };
    format!(
        "{}{redone}; intervals of {}{reached}{ratios}. {}",
        count(view.analysis.blocks as usize, "block"),
        number::level(view.analysis.level),
        ending(view.run),
    )
}

/// Why the run ended, in a sentence.
pub fn ending(run: &Run) -> &'static str {
    match run.ending {
        Some(Ending::Decided) => "It ended when every comparison was decided.",
        Some(Ending::Precise) => "It ended when every interval was as narrow as wanted.",
        Some(Ending::Budget) => "It ended when its time was used up.",
        Some(Ending::Blocks) => "It ended after the blocks that were asked for.",
        Some(Ending::Failed) => "It ended because nothing was left to compare.",
        Some(Ending::Interrupted) => "It was interrupted.",
        None => "It has not ended: benchlab resume goes on with it.",
    }
}

/// What few blocks mean for the whole run, if they are too few.
pub fn few_blocks(view: &View) -> Option<String> {
    let points: Vec<PointId> = (0..view.plan.points.len()).collect();
    let (least, most) = low_levels(view, &points)?;
    Some(format!(
        "{} too few for intervals of {}: the ratios' intervals hold at {}. Treat this as a first look.",
        was_or_are(view.analysis.blocks as usize, "block"),
        number::level(view.analysis.level),
        range(least, most),
    ))
}

/// The least and the highest level of the ratios' intervals, if some are below the one asked for:
/// then there are too few blocks.
fn low_levels(view: &View, points: &[PointId]) -> Option<(f64, f64)> {
    let here = view
        .analysis
        .comparisons
        .iter()
        .filter(|c| points.contains(&c.point));
    let levels: Vec<f64> = here.map(|c| c.ratio.level).collect();
    let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let most = levels.iter().copied().fold(0.0, f64::max);
    (least < view.analysis.level - 1e-9).then_some((least, most))
}

/// What few blocks mean for some points, if they are too few.
pub fn low_level(view: &View, points: &[PointId]) -> Option<String> {
    let (least, most) = low_levels(view, points)?;
    let level = number::level(view.analysis.level);
    Some(format!(
        "Too few blocks for {level}: the intervals of the ratios hold at {}.",
        range(least, most)
    ))
}

/// When a run began: `2026-11-21 09:15 UTC`.
pub fn started(run: &Run) -> String {
    format!("{} UTC", minute(run.started_unix_s))
}

/// The minute, in UTC, of a time in seconds since 1970: `2026-11-21 09:15`. Days to dates after
/// H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`.
pub fn minute(unix_s: f64) -> String {
    let seconds = unix_s.clamp(0.0, 2.5e11) as i64;
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (
        of_year - (153 * shifted + 2) / 5 + 1,
        if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        },
    );
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        of_day / 3600,
        of_day / 60 % 60
    )
}

/// How many blocks were redone, if any.
fn redone(view: &View) -> Option<String> {
    let n = view.analysis.disturbed_blocks as usize;
    (n > 0).then(|| {
        format!(
            "{} redone because the host disturbed {}.",
            was(n, "block"),
            if n == 1 { "it" } else { "them" }
        )
    })
}

fn was(n: usize, word: &str) -> String {
    format!("{} {}", count(n, word), if n == 1 { "was" } else { "were" })
}

/// `25 %`, or `0 % to 25 %`.
fn range(least: f64, most: f64) -> String {
    if most - least < 5e-4 {
        return number::level(least);
    }
    format!("{} to {}", number::level(least), number::level(most))
}

fn was_or_are(n: usize, word: &str) -> String {
    format!("{} {}", count(n, word), if n == 1 { "is" } else { "are" })
}
