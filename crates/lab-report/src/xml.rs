// SPDX-License-Identifier: Apache-2.0
//! Figures as earlier SQL benchmarks for Ada exchanged them (S. Carrez's sql-benchmark, built on the
//! Util.Measures of his Ada Utility Library): `<benchmark>` with memory in KiB and CPU time in ms,
//! holding `<measures>` of `<time count time total title>`.

use crate::view::View;
use crate::{Error, File, Format, Report};
use lab_model::{Imported, ImportedTime, PointId, Run, SubjectId};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// The report as one document: `<benchmark>` itself if there is only one subject, else
/// `<benchmarks>` around them.
pub fn render(report: &Report) -> String {
    let benchmarks = benchmarks(report);
    match benchmarks.as_slice() {
        [(_, only)] => document(report.run, std::slice::from_ref(only), false),
        many => {
            let figures: Vec<Imported> = many.iter().map(|(_, b)| b.clone()).collect();
            document(report.run, &figures, true)
        }
    }
}

/// One document per subject, each with `<benchmark>` as its root: what the earlier tools read.
/// Error: the run is a load, for which they have no form.
pub fn per_subject(report: &Report) -> Result<Vec<File>, Error> {
    if report.load.is_some() {
        return Err(Error::NoLoad(Format::Xml));
    }
    let file = |(i, (name, benchmark)): (usize, (String, Imported))| {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        File {
            name: format!(
                "{:02}-{}.xml",
                i + 1,
                name.chars().map(safe).collect::<String>()
            ),
            text: document(report.run, &[benchmark], false),
        }
    };
    let benchmarks = benchmarks(report).into_iter().enumerate();
    Ok(benchmarks.map(file).collect())
}

/// Every subject's figures in the terms of this format, and what was imported.
fn benchmarks(report: &Report) -> Vec<(String, Imported)> {
    let views = View::all(report).into_iter();
    let measured = views.flat_map(|view| {
        let totals = totals(view.run, view.plan.subjects.len(), view.plan.points.len());
        let name = |s| match view.place() {
            "" => view.name(s).to_string(),
            place => format!("{}-{place}", view.name(s)),
        };
        let subjects = 0..view.plan.subjects.len();
        let all = subjects.map(|s| (name(s), benchmark(&view, s, &totals[s])));
        let all = all.filter(|(_, b)| !b.times.is_empty());
        all.collect::<Vec<_>>()
    });
    let imported = std::iter::once(report.run)
        .chain(report.others)
        .flat_map(|r| &r.imports);
    let named = imported.map(|i| (format!("{}-{}", i.language, i.driver), i.clone()));
    measured.chain(named).collect()
}

/// Operations and wall time in ns of each subject at each point, over the complete blocks.
fn totals(run: &Run, subjects: usize, points: usize) -> Vec<Vec<(u64, u64)>> {
    let mut totals = vec![vec![(0, 0); points]; subjects];
    for sample in run.complete_blocks().flat_map(|b| &b.samples) {
        if let Some(total) = totals
            .get_mut(sample.subject)
            .and_then(|t| t.get_mut(sample.point))
        {
            total.0 += sample.batch.operations;
            total.1 += sample.batch.wall_ns;
        }
    }
    totals
}

fn benchmark(view: &View, subject: SubjectId, totals: &[(u64, u64)]) -> Imported {
    let who = &view.plan.subjects[subject];
    let print = view
        .analysis
        .footprints
        .iter()
        .find(|f| f.subject == subject);
    let uses = || view.analysis.uses.iter().filter(|u| u.subject == subject);
    // The format has one place for each, so the CPU time of commands is known at one point alone.
    let only = uses().next().filter(|_| view.plan.points.len() == 1);
    let peak = print.map(|f| f.peak_rss_bytes.estimate);
    let peak = peak.or_else(|| uses().map(|u| u.peak_rss_bytes.estimate).reduce(f64::max));
    let user = print
        .map(|f| f.user_ns)
        .or(only.map(|u| u.user_ns.estimate));
    let sys = print.map(|f| f.sys_ns).or(only.map(|u| u.sys_ns.estimate));
    let whole = |value: f64| (value.is_finite() && value >= 0.0).then_some(value.round() as u64);
    let times = totals
        .iter()
        .enumerate()
        .filter(|(_, (operations, _))| *operations > 0);
    // Commands have neither, but what the earlier tools tell figures apart by.
    let (language, driver) = match &who.command {
        Some(command) => (&who.name, &command.line),
        None if who.overhead => (&who.name, &who.driver),
        None => (&who.language, &who.driver),
    };
    Imported {
        language: language.clone(),
        driver: {
            let of = view.named.map(|kind| format!(" on {}", kind.name()));
            let control = who.control_of.map(|_| " (control)".to_string());
            [Some(driver.clone()), of, control]
                .into_iter()
                .flatten()
                .collect()
        },
        threads: print.map(|f| u64::from(f.threads)),
        rss_bytes: print.and_then(|f| whole(f.rss_bytes.estimate)),
        peak_rss_bytes: peak.and_then(whole),
        user_ns: user.and_then(whole),
        sys_ns: sys.and_then(whole),
        times: times
            .map(|(point, &(count, total))| time(view, point, count, total as f64))
            .collect(),
    }
}

fn time(view: &View, point: PointId, count: u64, total_ns: f64) -> ImportedTime {
    ImportedTime {
        title: title(view, point),
        count,
        time_ns: total_ns / count as f64,
        total_ns,
    }
}

/// A point in words that end with the sweep's value: the earlier tools take a number at the end of a
/// title for the number of rows.
fn title(view: &View, point: PointId) -> String {
    let case = view.plan.case(point);
    let params = &view.plan.points[point].params;
    let (sweep, factors): (Vec<_>, Vec<_>) = params
        .iter()
        .partition(|(key, _)| case.sweep.as_ref() == Some(key));
    let mut title = case.name.clone();
    for (key, value) in factors {
        title.push_str(&format!(" {key}={value}"));
    }
    for (key, value) in sweep {
        title.push_str(&format!(" {key} {value}"));
    }
    title
}

fn document(run: &Run, benchmarks: &[Imported], wrapped: bool) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let mut events = vec![Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None))];
    if wrapped {
        events.push(Event::Start(BytesStart::new("benchmarks")));
    }
    for benchmark in benchmarks {
        events.push(Event::Start(benchmark_tag(benchmark)));
        let title = run
            .plan
            .as_ref()
            .map_or("benchmark", |plan| plan.title.as_str());
        events.push(Event::Start(tag("measures", &[("title", legal(title))])));
        events.extend(benchmark.times.iter().map(|t| Event::Empty(time_tag(t))));
        events.push(Event::End(BytesEnd::new("measures")));
        events.push(Event::End(BytesEnd::new("benchmark")));
    }
    if wrapped {
        events.push(Event::End(BytesEnd::new("benchmarks")));
    }
    events.push(Event::Text(BytesText::from_escaped("\n")));
    for event in events {
        writer
            .write_event(event)
            .expect("writing to memory does not fail");
    }
    String::from_utf8_lossy(&writer.into_inner()).into_owned()
}

/// Attributes as the earlier tools wrote them: `rss_size` in KiB, `user_time` in ms. They take an
/// attribute that is missing for the one of the file before, so an unknown one is 0.
fn benchmark_tag(benchmark: &Imported) -> BytesStart<'static> {
    let scaled = |value: Option<u64>, unit: u64| (value.unwrap_or(0) / unit).to_string();
    tag(
        "benchmark",
        &[
            ("language", legal(&benchmark.language)),
            ("driver", legal(&benchmark.driver)),
            ("threads", scaled(benchmark.threads, 1)),
            ("rss_size", scaled(benchmark.rss_bytes, 1024)),
            ("peak_rss_size", scaled(benchmark.peak_rss_bytes, 1024)),
            ("user_time", scaled(benchmark.user_ns, 1_000_000)),
            ("sys_time", scaled(benchmark.sys_ns, 1_000_000)),
        ],
    )
}

fn time_tag(time: &ImportedTime) -> BytesStart<'static> {
    tag(
        "time",
        &[
            ("count", time.count.to_string()),
            ("time", duration(time.time_ns)),
            ("total", duration(time.total_ns)),
            ("title", legal(&time.title)),
        ],
    )
}

fn tag(name: &'static str, attributes: &[(&str, String)]) -> BytesStart<'static> {
    let mut tag = BytesStart::new(name);
    for (key, value) in attributes {
        tag.push_attribute((*key, value.as_str()));
    }
    tag
}

/// A number, a space and a unit. Microseconds keep a picosecond's part below one second; the
/// earlier tools' duration type ends at a nanosecond.
fn duration(ns: f64) -> String {
    if ns < 1e9 {
        format!("{:.6} us", ns / 1e3)
    } else {
        format!("{:.9} s", ns / 1e9)
    }
}

/// Without the characters that XML 1.0 cannot hold (section 2.2), and without line breaks, which
/// attributes do not keep.
fn legal(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') {
                ' '
            } else {
                c
            }
        })
        .collect()
}
