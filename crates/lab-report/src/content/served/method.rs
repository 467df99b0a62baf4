// SPDX-License-Identifier: Apache-2.0
//! What was proven before anything was measured, how the cores were split, and how it was measured.

use super::ranked;
use crate::content::{count, few_blocks, method::ending};
use crate::number::{self, Quantity, single, whole};
use crate::served::{ServedView, percent_of_peak};
use lab_model::Content;
use std::collections::BTreeSet;

/// Name and value of what was decided before anything was measured.
pub fn asked(view: &ServedView) -> Vec<(&'static str, String)> {
    let plan = view.common().plan;
    let cases = view.cases().into_iter();
    let cases: Vec<String> = cases.map(|case| case_said(view, case)).collect();
    let mut loads = vec!["as fast as they are answered".to_string()];
    let parts: Vec<String> = view.parts().into_iter().map(percent_of_peak).collect();
    if !parts.is_empty() {
        let open = (0..plan.points.len()).filter(|&point| plan.is_open(point));
        let open: BTreeSet<usize> = open.map(|point| plan.connections(point)).collect();
        loads.push(format!(
            "at {} of what each server then served at the most, over {} connections",
            list(&parts),
            list(&open.iter().map(usize::to_string).collect::<Vec<_>>())
        ));
    }
    let alive = [(true, "kept alive"), (false, "a new one for each request")];
    let alive: Vec<String> = alive
        .into_iter()
        .filter(|(alive, _)| {
            !view
                .cases()
                .iter()
                .all(|&c| view.closed(c, *alive).is_empty())
        })
        .map(|(alive, name)| format!("{} {name}", view.connections(None, alive)))
        .collect();
    vec![
        ("Cases", list(&cases)),
        ("Connections", alive.join("; ")),
        ("Load", loads.join("; ")),
        ("Cores", split(view)),
        (
            "Workers",
            format!(
                "{} of servers that run handlers on a pool of threads; the others have their loops",
                count(view.serving.workers as usize, "thread")
            ),
        ),
        ("Same work", proof(view)),
    ]
}

fn case_said(view: &ServedView, case: usize) -> String {
    let plan = view.common().plan;
    let name = view.case_name(Some(case));
    format!("{name} ({})", plan.cases[case].work)
}

/// How the machine's cores were divided, in a sentence.
pub fn split(view: &ServedView) -> String {
    let servers = view.measured();
    let said = |key: &str| -> BTreeSet<&str> {
        let of = servers.iter().filter_map(|&s| view.setting(s, key));
        of.collect()
    };
    let cores = |key: &str| -> Option<String> {
        let said: Vec<&str> = said(key).into_iter().collect();
        match said.as_slice() {
            [] => None,
            ["1"] => Some("1 core".into()),
            [n] => Some(format!("{n} cores")),
            many => Some(format!("{} cores", many.join(" or "))),
        }
    };
    let (server, generator) = (cores("server cores"), cores("generator cores"));
    match (server, generator) {
        (Some(server), _) if said("cores shared").contains("yes") => format!(
            "generator and server share the machine, and {server}: each takes from the other"
        ),
        (Some(server), Some(generator)) => format!(
            "generator and server share the machine: the server has {server}, the generator {generator} of its own; \
             which these are changes from block to block"
        ),
        _ => "how they were split is not known".into(),
    }
}

/// What every server that is compared was proven to do, in a sentence.
pub fn proof(view: &ServedView) -> String {
    let examples = view.serving.examples.iter().flatten();
    let refusals = examples.clone().filter(|e| e.status >= 400).count();
    let exact = |e: &&lab_model::Example| matches!(e.answer, Content::Text(_) | Content::File(_));
    let exact = examples.clone().filter(exact).count();
    let json = |e: &&lab_model::Example| matches!(e.answer, Content::Json(_));
    let json = examples.clone().filter(json).count();
    let answers = ranked(view).into_iter();
    let answers = answers.filter_map(|s| view.setting(s, "proven answers")?.parse::<u64>().ok());
    let answers: BTreeSet<u64> = answers.collect();
    let answers = match (answers.first(), answers.last()) {
        (Some(low), Some(high)) if low < high => {
            format!(", {} to {} answers each", whole(*low), whole(*high))
        }
        (Some(n), _) => format!(", {} answers each", whole(*n)),
        _ => String::new(),
    };
    let kinds = [
        (exact, "byte for byte"),
        (json, "as JSON of the same value"),
        (refusals, "as refusals"),
    ];
    let kinds = kinds.into_iter().filter(|(n, _)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(n, how)| format!("{n} {how}")).collect();
    format!(
        "proven of every server before it was measured{answers}: {} ({}) with status, Content-Type and a Date that is \
         the time and advances; HEAD says what GET says; 404 for what is missing, 405 with Allow; requests that arrive \
         a byte at a time, and several at once; Connection: close honoured, and else connections kept, of which the \
         server has as many as were opened",
        count(examples.count(), "request"),
        list(&kinds),
    )
}

/// How it was measured, in sentences.
pub fn method(view: &ServedView) -> Vec<String> {
    let common = view.common();
    let analysis = view.load.analysis;
    let plan = common.plan;
    let blocks = count(analysis.blocks as usize, "block");
    let visit = single(Quantity::Time, view.load.load.stretch_ns as f64);
    let mut text = vec![
        format!(
            "In each of {blocks}, fresh processes of all servers were started and warmed up, and the points came in \
             random order: at each, all servers took turns of {visit}, in a random order and back again, {} for each \
             server, of which the first tenth more was not counted. A server that still computed after its turn was stopped \
             until the next.",
            count(2 * plan.measure.pairs.max(1) as usize, "turn"),
        ),
        format!("Cores: {}.", split(view)),
        generator(view),
        "Rates and costs are medians over blocks with exact order-statistic intervals; percentiles are those of all \
         requests served, with bootstrap intervals over whole blocks, up to 0.1 % too high and never too low. Ratios \
         are Hodges-Lehmann estimates over blocks with Wilcoxon signed-rank intervals, simultaneous over the servers \
         and respects of a point, or of a table's column."
            .into(),
        format!(
            "Asked for: {}, margin {}. Compared are, where requests are sent as fast as they are answered, the time \
             and the server's CPU time per request, and where each server is offered a part of its own peak, p50, p90 \
             and p99: who stalls is asked less in a closed loop, so that its percentiles leave out what people would \
             have waited.",
            number::level(analysis.level),
            number::level(analysis.margin),
        ),
    ];
    if !view.parts().is_empty() {
        text.push(
            "The peak of which parts are offered is what the first block found, for each server, case and kind of \
             connection: the rates stay the same over the run."
                .into(),
        );
    }
    text.extend(redone(view));
    text.extend(few_blocks(common));
    if let Some((cpu_ns, rss_bytes)) = common.run.lab_cost {
        text.push(format!(
            "The lab itself, generator included, used {} of CPU time and at most {} of memory (single readings).",
            single(Quantity::Time, cpu_ns as f64),
            single(Quantity::Size, rss_bytes as f64),
        ));
    }
    text.push(format!(
        "{} The seed was {}.",
        ending(common.run),
        plan.seed
    ));
    text
}

/// How many turns were taken again, if any.
fn redone(view: &ServedView) -> Option<String> {
    let run = view.common().report.run;
    let redone: u32 = run.complete_blocks().map(|b| b.redone_visits).sum();
    let kept: usize = run.complete_blocks().map(|b| b.slices.len()).sum();
    (redone > 0).then(|| {
        format!(
            "Besides the {} turns that count, {} taken again because another process used more than 1 % of a core \
             meanwhile.",
            whole(kept as u64),
            match redone {
                1 => "one was".into(),
                n => format!("{} were", whole(n.into())),
            },
        )
    })
}

/// What the generator itself needs for a request, from the cheapest case to the dearest.
fn generator(view: &ServedView) -> String {
    let analysis = view.load.analysis;
    let costs = analysis.cells.iter().filter_map(|cell| {
        let plan = view.common().plan;
        let usual = !plan.is_open(cell.point) && plan.keeps_alive(cell.point) == view.usual();
        let busy = usual && cell.generator_busy.estimate > 0.25;
        Some(cell.generator_cpu_ns.filter(|_| busy)?.estimate)
    });
    let costs: Vec<f64> = costs.collect();
    let low = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = costs.iter().copied().fold(0.0, f64::max);
    let own = match low <= high {
        true => format!(
            " It needs {} to {} of its own CPU time for a request where it is busy.",
            single(Quantity::Time, low),
            single(Quantity::Time, high)
        ),
        false => String::new(),
    };
    let threads = count(view.load.load.threads as usize, "thread");
    format!("The load generator has {threads}.{own}")
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        items => items.concat(),
    }
}
