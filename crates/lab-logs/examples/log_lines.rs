// SPDX-License-Identifier: Apache-2.0
//! The helper program of `benches/logs/bench.py`: generates logs of any length, measures how fast
//! they are parsed from memory, and checks the analysis against exact values.
//!
//! `log_lines generate LINES PAGES SEED > LOG`, `log_lines memory LOG TIMES`,
//! `log_lines check LINES PAGES SEED`, `log_lines joins IDS QUERIES`

use lab_logs::{Hints, Rules, ServerLog, Tally};
use lab_model::{LogPage, QueryWithin};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", lines, pages, seed] => print(&Lines::new(lines, pages, seed)?),
        ["memory", log, times] => memory(log, times.parse()?),
        ["check", lines, pages, seed] => check(&Lines::new(lines, pages, seed)?),
        ["joins", ids, queries] => joins(ids.parse()?, queries.parse()?),
        _ => Err("usage: log_lines generate LINES PAGES SEED | memory LOG TIMES | check LINES PAGES SEED | joins IDS QUERIES".into()),
    }
}

/// The random number generator SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn part(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
];

/// Returns the letters that encode a page's number in base 26.
fn letters(mut page: u64) -> String {
    let mut name = String::new();
    loop {
        name.push(char::from(b'a' + (page % 26) as u8));
        page /= 26;
        if page == 0 {
            return name;
        }
    }
}

/// The lines of a combined log with durations in µs.
///
/// The log covers three weeks of May 2026. Page popularity follows Zipf's law, and one path in five
/// contains a number.
struct Lines {
    lines: u64,
    pages: u64,
    seed: u64,
}

impl Lines {
    fn new(lines: &str, pages: &str, seed: &str) -> Result<Lines, std::num::ParseIntError> {
        Ok(Lines {
            lines: lines.parse()?,
            pages: pages.parse()?,
            seed: seed.parse()?,
        })
    }

    /// Passes each line to `sink`.
    fn each(&self, mut sink: impl FnMut(&str) -> Outcome) -> Outcome {
        let mut random = Random(self.seed);
        let mut line = String::new();
        for i in 0..self.lines {
            line.clear();
            self.write(i, &mut random, &mut line)?;
            sink(&line)?;
        }
        Ok(())
    }

    fn write(&self, i: u64, random: &mut Random, line: &mut String) -> std::fmt::Result {
        use std::fmt::Write;
        let second = i * 21 * 86_400 / self.lines;
        let (day, of_day) = (1 + second / 86_400, second % 86_400);
        let page = ((self.pages as f64 + 1.0).powf(random.part()) - 1.0) as u64;
        let id = random.next() % 100_000;
        let path = match page % 5 {
            0 => format!("/{}/{id}", letters(page)),
            1 => format!("/{}?q={id}", letters(page)),
            _ => format!("/section/{}", letters(page)),
        };
        let spread = (random.part() + random.part() + random.part() - 1.5) * 1.5;
        let us = (2_000.0 * (1.0 + (page % 37) as f64) * spread.exp()) as u64;
        let address = random.next();
        let agent = AGENTS[(random.next() % 16 / 5) as usize];
        let status = if random.next().is_multiple_of(200) {
            500
        } else {
            200
        };
        writeln!(
            line,
            "10.{}.{}.{} - - [{day:02}/May/2026:{:02}:{:02}:{:02} +0200] \"GET {path} HTTP/1.1\" {status} {} \"https://shop.example/\" \"{agent}\" {us}",
            address & 255,
            (address >> 8) & 255,
            (address >> 16) & 255,
            of_day / 3600,
            of_day / 60 % 60,
            of_day % 60,
            300 + id,
        )
    }
}

fn print(lines: &Lines) -> Outcome {
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    lines.each(|line| Ok(out.write_all(line.as_bytes())?))?;
    Ok(out.flush()?)
}

/// Prints the parse rate of a log in memory, in lines per second of CPU time, once per repetition.
fn memory(path: &str, times: u32) -> Outcome {
    let bytes = std::fs::read(path)?;
    for _ in 0..times {
        let mut tally = Tally::new(Rules::default());
        let mut log = ServerLog::new(path, &Hints::default());
        let began = cpu_s()?;
        log.push(&bytes, &mut tally)?;
        log.end(&mut tally)?;
        let seconds = cpu_s()? - began;
        println!("{} {:.0}", log.lines.all, log.lines.all as f64 / seconds);
    }
    Ok(())
}

/// Returns the CPU time of this thread, in seconds (Linux, Documentation/scheduler/sched-stats).
fn cpu_s() -> Result<f64, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns: u64 = text.split(' ').next().ok_or("no time")?.parse()?;
    Ok(ns as f64 / 1e9)
}

/// Joins a server log with a database log and prints the counts and the peak memory of this
/// process.
///
/// Each request has an ID and `queries` queries. Returns an error if a count is wrong.
fn joins(ids: u64, queries: u64) -> Outcome {
    let mut tally = Tally::new(Rules::default());
    let mut server = ServerLog::new("server", &Hints::default());
    let mut database = ServerLog::new("database", &Hints::default());
    let time = |i: u64| {
        let s = i % 86_400;
        format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    };
    for i in 0..ids {
        for query in 0..queries {
            let line = format!(
                "2026-05-01 {}.250 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT a{query} FROM t /*request_id:{i:032x}*/\n",
                time(i)
            );
            database.push(line.as_bytes(), &mut tally)?;
        }
        let line = format!(
            "{{\"time\":\"2026-05-01T{}Z\",\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"duration_ms\":50,\"request_id\":\"{i:032x}\"}}\n",
            time(i)
        );
        server.push(line.as_bytes(), &mut tally)?;
    }
    database.end(&mut tally)?;
    server.end(&mut tally)?;
    let analysis = tally.analysis(Vec::new(), server.lines);
    let is_right = |within: &QueryWithin| within.executions == within.requests;
    if analysis.within.len() as u64 != queries || !analysis.within.iter().all(is_right) {
        return Err(format!("{:?}", analysis.within).into());
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
    println!(
        "{} requests in a sample of 1 in {} request IDs; {}",
        analysis.within[0].requests,
        analysis.coverage.one_in,
        peak.ok_or("no peak")?
    );
    Ok(())
}

/// The exact values of a page: its requests, errors, bytes, and all durations in µs.
#[derive(Default)]
struct Exact {
    errors: u64,
    bytes: u64,
    us: Vec<u32>,
}

/// Splits a line into words and adds it to the exact values of its page. Skips lines of crawlers.
fn add(line: &str, pages: &mut BTreeMap<String, Exact>) -> Outcome {
    if line.contains("Googlebot") {
        return Ok(());
    }
    let request = line.split('"').nth(1).ok_or("no request")?;
    let target = request.split(' ').nth(1).ok_or("no target")?;
    let path = target.split('?').next().unwrap_or("");
    let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let route: Vec<&str> = path
        .split('/')
        .map(|s| if is_number(s) { "{id}" } else { s })
        .collect();
    let behind = line.split('"').nth(2).ok_or("no status")?;
    let words: Vec<&str> = behind.split_whitespace().collect();
    let us = line.trim_end().rsplit(' ').next().ok_or("no duration")?;
    let page = pages.entry(route.join("/")).or_default();
    page.errors += u64::from(words[0].parse::<u16>()? >= 500);
    page.bytes += words[1].parse::<u64>()?;
    page.us.push(us.parse()?);
    Ok(())
}

/// Analyzes generated lines as `benchlab logs` does and compares the result with the exact values.
///
/// Returns an error if a value differs.
fn check(lines: &Lines) -> Outcome {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("generated", &Hints::default());
    let mut exact = BTreeMap::new();
    lines.each(|line| {
        log.push(line.as_bytes(), &mut tally)?;
        add(line, &mut exact)
    })?;
    log.end(&mut tally)?;
    let analysis = tally.analysis(Vec::new(), log.lines);
    let mut pages = analysis.pages;
    pages.retain(|p| p.kind.is_use());
    if pages.len() != exact.len() {
        return Err(format!("{} pages instead of {}", pages.len(), exact.len()).into());
    }
    let mut worst = 0.0_f64;
    for page in &pages {
        let exact = exact.get_mut(&page.name);
        let exact = exact.ok_or_else(|| format!("there is no {}", page.name))?;
        worst = worst.max(compare(page, exact, analysis.error)?);
    }
    println!(
        "{} lines, {} pages: requests, errors, bytes, sums and longest durations are equal, percentiles differ by at most {:.2} %",
        log.lines.all,
        pages.len(),
        100.0 * worst
    );
    Ok(())
}

/// Returns the largest relative error of a percentile, as a fraction of the exact value.
///
/// Returns an error if a count or a sum differs, or if a percentile's error exceeds `promised`.
fn compare(page: &LogPage, exact: &mut Exact, promised: f64) -> Result<f64, String> {
    let us = &mut exact.us;
    us.sort_unstable();
    let sum: u64 = us.iter().map(|us| u64::from(*us)).sum();
    let longest = us.last().map_or(0, |us| u64::from(*us));
    let expected = [
        us.len() as u64,
        exact.errors,
        exact.bytes,
        sum * 1000,
        longest * 1000,
    ];
    let actual = [
        page.requests,
        page.errors,
        page.bytes,
        page.total_ns,
        page.max_ns,
    ];
    if expected != actual {
        return Err(format!("{}: {actual:?} instead of {expected:?}", page.name));
    }
    let mut worst = 0.0_f64;
    for part in [0.5, 0.9, 0.95, 0.99, 0.999] {
        let rank = ((us.len() as f64 * part).ceil() as usize).max(1);
        let expected = f64::from(us[rank - 1]) * 1000.0;
        let actual = page.times.quantile(part).unwrap_or(0) as f64;
        worst = worst.max((actual - expected).abs() / expected);
        if worst > promised {
            return Err(format!(
                "{}, {part}: {actual} instead of {expected}",
                page.name
            ));
        }
    }
    Ok(worst)
}
