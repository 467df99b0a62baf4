// SPDX-License-Identifier: Apache-2.0
//! What `benches/watch/bench.py` measures with: logs of any length, their lines from memory, and an exact reference.
//!
//! `watch_lines generate LINES PAGES SEED > LOG`, `watch_lines memory LOG TIMES`, `watch_lines exact LOG`

use lab_watch::{Hints, Log, Rules, Tally, read};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", lines, pages, seed] => generate(lines.parse()?, pages.parse()?, seed.parse()?),
        ["memory", log, times] => memory(log, times.parse()?),
        ["exact", log] => exact(log),
        ["sketch", log] => sketch(log),
        _ => Err("usage: watch_lines generate LINES PAGES SEED | memory LOG TIMES | exact LOG | sketch LOG".into()),
    }
}

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
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

/// The letters of a page's number.
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

/// A combined log with durations in µs: three weeks of May 2026, pages by Zipf's law, one in five with a number in its path.
fn generate(lines: u64, pages: u64, seed: u64) -> Outcome {
    let mut random = Random(seed);
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let span = 21 * 86_400;
    for i in 0..lines {
        let second = i * span / lines;
        let (day, of_day) = (1 + second / 86_400, second % 86_400);
        let page = ((pages as f64 + 1.0).powf(random.part()) - 1.0) as u64;
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
            out,
            "10.{}.{}.{} - - [{day:02}/May/2026:{:02}:{:02}:{:02} +0200] \"GET {path} HTTP/1.1\" {status} {} \"https://shop.example/\" \"{agent}\" {us}",
            address & 255,
            (address >> 8) & 255,
            (address >> 16) & 255,
            of_day / 3600,
            of_day / 60 % 60,
            of_day % 60,
            300 + id,
        )?;
    }
    out.flush()?;
    Ok(())
}

/// Lines for each second of CPU time of a log in memory, once for each time.
fn memory(path: &str, times: u32) -> Outcome {
    let bytes = std::fs::read(path)?;
    for _ in 0..times {
        let mut tally = Tally::new(Rules::default());
        let mut log = Log::new(path, &Hints::default());
        let began = cpu_s()?;
        log.push(&bytes, &mut tally)?;
        log.end(&mut tally)?;
        let seconds = cpu_s()? - began;
        println!("{} {:.0}", log.lines.all, log.lines.all as f64 / seconds);
    }
    Ok(())
}

/// CPU time of this thread (Linux, Documentation/scheduler/sched-stats).
fn cpu_s() -> Result<f64, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns: u64 = text.split(' ').next().ok_or("no time")?.parse()?;
    Ok(ns as f64 / 1e9)
}

/// Route, count, sum, and the percentiles, of all requests of people, from all durations sorted; in µs.
fn exact(path: &str) -> Outcome {
    let mut durations: HashMap<String, Vec<u64>> = HashMap::new();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let line = line?;
        if line.contains("Googlebot") {
            continue;
        }
        let request = line.split('"').nth(1).ok_or("no request")?;
        let target = request.split(' ').nth(1).ok_or("no target")?;
        let path = target.split('?').next().unwrap_or("");
        let is_number = |s: &&str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let route: Vec<&str> = path
            .split('/')
            .map(|s| if is_number(&s) { "{id}" } else { s })
            .collect();
        let us = line.rsplit(' ').next().ok_or("no duration")?.parse()?;
        durations.entry(route.join("/")).or_default().push(us);
    }
    let mut rows: Vec<(String, Vec<u64>)> = durations.into_iter().collect();
    rows.sort();
    for (route, mut all) in rows {
        all.sort_unstable();
        let at = |part: f64| all[((all.len() as f64 * part).ceil() as usize).max(1) - 1];
        let sum: u64 = all.iter().sum();
        println!(
            "{route}\t{}\t{sum}\t{}\t{}\t{}",
            all.len(),
            at(0.5),
            at(0.95),
            at(0.99)
        );
    }
    Ok(())
}

/// The same of what `benchlab watch` counts, without learning of routes.
fn sketch(path: &str) -> Outcome {
    let mut tally = Tally::new(Rules::default());
    let mut log = Log::new(path, &Hints::default());
    read::read(
        std::fs::File::open(path)?,
        &mut log,
        &mut tally,
        &mut |_| true,
    )?;
    let mut pages = tally.watched(Vec::new(), log.lines).pages;
    pages.retain(|p| p.kind.is_use());
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    for page in pages {
        let at = |part: f64| page.times.quantile(part).unwrap_or(0) as f64 / 1000.0;
        println!(
            "{}\t{}\t{}\t{}\t{}\t{}",
            page.name,
            page.requests,
            page.total_ns / 1000,
            at(0.5),
            at(0.95),
            at(0.99)
        );
    }
    Ok(())
}
