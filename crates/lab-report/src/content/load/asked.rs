// SPDX-License-Identifier: Apache-2.0
//! What was sent to whom, and how: the first thing that a reader has to know of a load run.

use crate::content::{count, few_blocks, method::ending};
use crate::load::LoadView;
use crate::number::{self, Quantity, single};
use crate::table::Table;
use lab_model::{Arrivals, Asked, Protocol, Stage};
use std::collections::BTreeSet;

/// Name and value of all that was decided before the load began.
pub fn asked(view: &LoadView) -> Vec<(&'static str, String)> {
    let load = view.load;
    let mut facts = Vec::new();
    if let Some(requests) = requests(view) {
        facts.push(("Requests", requests));
    }
    facts.push(("Load", arrivals(&load.arrivals)));
    facts.push(("Connections", connections(view)));
    facts.push(("Protocol", protocol(view)));
    facts.push(("An answer counts if", expected(&load.expected)));
    let timeout = single(Quantity::Time, load.timeout_ns as f64);
    let threads = count(load.threads as usize, "thread");
    facts.push((
        "Generator",
        format!("{threads}; a request may take {timeout}"),
    ));
    if let Some(pid) = load.server_pid {
        facts.push(("Server", format!("process {pid} on this machine")));
    }
    facts.push(("Time", time(view)));
    facts
}

/// The requests of all servers, where they are more than one for each.
pub fn request_table(view: &LoadView) -> Table {
    let mut table = Table::new("The requests", ["server".to_string()]);
    if requests(view).is_some() {
        return table;
    }
    table = table.text_column("method").text_column("URL");
    table.columns.push(crate::table::Column {
        title: "of all".into(),
        numeric: true,
    });
    for (subject, asked) in view.load.requests.iter().enumerate() {
        let all: f64 = asked.iter().map(|a| f64::from(a.weight.max(1))).sum();
        for Asked {
            method,
            url,
            weight,
        } in asked
        {
            let part = number::percent(f64::from(*weight.max(&1)) / all);
            let name = view.view.name(subject);
            table.rows.push(vec![
                name.into(),
                method.as_str().into(),
                url.as_str().into(),
                part.into(),
            ]);
        }
    }
    if view.load.requests.len() == 1 {
        table.drop_columns(&["server"]);
    }
    table
}

/// How it was measured, in sentences.
pub fn method(view: &LoadView) -> Vec<String> {
    let mut text = vec![format!(
        "Rates and costs are medians over {} with exact order-statistic intervals; percentiles are those of all \
             requests served, with bootstrap intervals over whole blocks, up to 0.1 % too high and never too low. \
             Asked for: {}.",
        count(view.analysis.blocks as usize, "block"),
        number::level(1.0 - view.view.plan.measure.alpha),
    )];
    if view.open() {
        let times = "In an open loop requests are due at times of their own. Response time counts from the moment \
                     when a request was due, whether a connection was free or not; service time from the moment \
                     when it was sent.";
        text.insert(0, times.into());
    }
    if !view.analysis.comparisons.is_empty() {
        text.push(format!(
            "Ratios are Hodges-Lehmann estimates over blocks with Wilcoxon signed-rank intervals, of {} together over \
             the servers and metrics of a point; margin {}. They are of times and costs: below 1 is better.",
            number::level(view.analysis.level),
            number::level(view.analysis.margin),
        ));
    }
    text.push(
        "Requests that failed are not in the times, and are counted by kind beside them. Every request that was \
         offered was served or is an error."
            .into(),
    );
    text.extend(few_blocks(&view.view));
    if let Some((cpu_ns, rss_bytes)) = view.view.run.lab_cost {
        text.push(format!(
            "The lab itself, generator included, used {} of CPU time and at most {} of memory (single readings).",
            single(Quantity::Time, cpu_ns as f64),
            single(Quantity::Size, rss_bytes as f64),
        ));
    }
    text.push(format!(
        "{} The seed was {}.",
        ending(view.view.run),
        view.view.plan.seed
    ));
    text
}

/// The requests in few words; nothing where some server has several.
fn requests(view: &LoadView) -> Option<String> {
    let of = |(subject, asked): (usize, &Vec<Asked>)| {
        let [only] = asked.as_slice() else {
            return None;
        };
        let request = format!("{} {}", only.method, only.url);
        Some(match view.load.requests.len() {
            1 => request,
            _ => format!("{}: {request}", view.view.name(subject)),
        })
    };
    let all = view.load.requests.iter().enumerate().map(of);
    let all = all.collect::<Option<Vec<_>>>()?;
    (!all.is_empty()).then(|| all.join(", "))
}

fn arrivals(arrivals: &Arrivals) -> String {
    match arrivals {
        Arrivals::Closed => {
            "closed loop: each connection sends its next request when the last is answered".into()
        }
        Arrivals::Open { poisson, stages } => {
            let distances = match poisson {
                true => "random (Poisson) distances",
                false => "equal distances",
            };
            let rate = match stages.as_slice() {
                [only] if only.from == only.to => format!("{} requests/s", rate(only.from)),
                many => {
                    let stages: Vec<String> = many.iter().map(stage).collect();
                    format!("{}, over and over", stages.join(", then "))
                }
            };
            format!("open loop: {rate}, at {distances}, whatever became of those before")
        }
    }
}

fn stage(stage: &Stage) -> String {
    let [from, to] = [stage.from, stage.to].map(rate);
    let time = single(Quantity::Time, stage.length_ns as f64);
    match stage.from == stage.to {
        true => format!("{from} requests/s for {time}"),
        false => format!("{from} to {to} requests/s in {time}"),
    }
}

/// A rate that was asked for: `1,000`, `0.5`.
fn rate(per_s: f64) -> String {
    match per_s >= 1.0 && per_s.fract() == 0.0 {
        true => number::whole(per_s as u64),
        false => format!("{per_s}"),
    }
}

fn connections(view: &LoadView) -> String {
    let params = view.view.plan.points.iter().flat_map(|p| &p.params);
    let values = |key: &str| {
        let mut seen = BTreeSet::new();
        let of = params.clone().filter(|(k, _)| k == key);
        let values = of.map(|(_, value)| value.as_str());
        values.filter(|v| seen.insert(*v)).collect::<Vec<_>>()
    };
    let keep = match (view.load.keep_alive, view.load.pipeline) {
        (false, _) => ", a new one for each request",
        (true, _) => ", kept open",
    };
    let pipeline = match view.load.pipeline {
        0 | 1 => String::new(),
        n => format!(", up to {n} requests under way on each"),
    };
    format!("{}{keep}{pipeline}", values("connections").join(", "))
}

fn protocol(view: &LoadView) -> String {
    let name = match view.load.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
    };
    let mut urls = view.load.requests.iter().flatten();
    match urls.any(|asked| asked.url.starts_with("https:")) {
        true => format!("{name} over TLS"),
        false => name.into(),
    }
}

fn expected(expected: &[String]) -> String {
    match expected {
        [] => "it is well-formed HTTP".into(),
        all => all.join(" and "),
    }
}

fn time(view: &LoadView) -> String {
    let (blocks, points) = (view.analysis.blocks, view.view.plan.points.len());
    let servers = view.load.requests.len();
    let stretch = single(Quantity::Time, view.load.stretch_ns as f64);
    let blocks = count(blocks as usize, "block");
    let (points, servers) = (count(points, "point"), count(servers, "server"));
    match (view.view.plan.points.len(), view.load.requests.len()) {
        (1, 1) => {
            let all = view
                .series()
                .iter()
                .flat_map(|s| &s.slices)
                .map(|s| s.wall_ns)
                .sum::<u64>();
            let all = single(Quantity::Time, all as f64);
            format!("{all} without a pause, in {blocks}")
        }
        (1, _) => format!("{blocks}, in each of which {servers} took turns of {stretch}"),
        (_, 1) => {
            format!("{blocks}, in each of which {points} came in random order for {stretch} each")
        }
        _ => format!(
            "{blocks}, in each of which {points} came in random order, and {servers} took turns of {stretch}"
        ),
    }
}
