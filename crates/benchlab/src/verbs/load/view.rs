// SPDX-License-Identifier: Apache-2.0
//! The live view of a load on a terminal, redrawn in place on standard error.
//!
//! It shows rates, percentiles, errors, the server's resource usage, and a heat map of response times.

use super::words::{SubjectAtPoint, Sum, label as place_label, rate, size, time};
use console::{Style, Term, truncate_str};
use lab_model::{Plan, PointId, Slice, SubjectId, grouped};
use std::collections::{HashMap, VecDeque};
use std::io;

/// The maximum width of the view, in columns.
const WIDTH: usize = 80;
/// The minimum width of a terminal that shows the view, in columns.
const MIN_WIDTH: usize = 60;

/// The number of rows of the heat map.
const ROWS: usize = 9;

/// The number of rows of the whole view.
const HEIGHT: usize = 7 + ROWS + 1;

/// The width of the heat map's labels, in columns.
const LABEL: usize = 10;

/// The period of load that the view's latest values cover, in ns.
const LAST_NS: u64 = 1_000_000_000;

/// The shades of the heat map, by fraction of a column's requests, in descending order. Each has a
/// minimum fraction, a character and a color (0 to 255).
const SHADES: [(f64, &str, u8); 5] = [
    (0.5, "█", 208),
    (0.2, "▓", 142),
    (0.05, "▒", 36),
    (0.01, "░", 31),
    (0.0, "·", 25),
];

const PLAIN: Style = Style::new().for_stderr();
const BOLD: Style = PLAIN.bold();
const DIM: Style = PLAIN.dim();
const RED: Style = PLAIN.red();

/// The status of a load, computed from its slices so far.
pub struct LoadStatus<'a> {
    plan: &'a Plan,
    done: u32,
    of: u32,
    /// The server and the point of the latest slice.
    current: SubjectAtPoint,
    all: HashMap<SubjectAtPoint, Sum>,
    /// The latest slices of the current server and point, which cover one second of load.
    last: VecDeque<Slice>,
    heat: VecDeque<SliceColumn>,
}

/// A column of the heat map, which shows one slice.
struct SliceColumn {
    /// The number of requests for each [`level`] of the response time.
    counts: HashMap<usize, u64>,
    errors: bool,
}

impl<'a> LoadStatus<'a> {
    /// Creates the status of a run of `plan` before its first slice.
    pub fn new(plan: &'a Plan) -> LoadStatus<'a> {
        LoadStatus {
            plan,
            done: 0,
            of: 0,
            current: (SubjectId(0), PointId(0)),
            all: HashMap::new(),
            last: VecDeque::new(),
            heat: VecDeque::new(),
        }
    }

    /// Adds a slice. `done` is the number of slices so far, including this slice, and `of` is the
    /// planned number.
    pub fn add(&mut self, slice: &Slice, done: u32, of: u32) {
        let current = (slice.subject, slice.point);
        if std::mem::replace(&mut self.current, current) != current {
            self.last.clear();
        }
        (self.done, self.of) = (done, of);
        self.all.entry(current).or_default().add(slice);
        self.last.push_back(slice.clone());
        let wall_ns = |last: &VecDeque<Slice>| last.iter().map(|s| s.wall_ns).sum::<u64>();
        while self.last.len() > 1 && wall_ns(&self.last) - self.last[0].wall_ns >= LAST_NS {
            self.last.pop_front();
        }
        self.heat.push_back(SliceColumn::new(slice));
        if self.heat.len() > WIDTH - LABEL {
            self.heat.pop_front();
        }
    }

    /// Returns the remaining seconds, assuming that no slice takes longer than planned.
    fn seconds_left(&self) -> u64 {
        let slices = u64::from(self.of.saturating_sub(self.done));
        (slices * self.plan.measure.turn_ns).div_ceil(1_000_000_000)
    }
}

impl SliceColumn {
    fn new(slice: &Slice) -> SliceColumn {
        let mut counts = HashMap::new();
        for &(ns, count) in &slice.response.counts().0 {
            *counts.entry(level(ns)).or_default() += count;
        }
        SliceColumn {
            counts,
            errors: !slice.errors.is_empty(),
        }
    }
}

/// Returns the level of a time: the index, from 0, of the smallest bound (1, 2, 5, 10, … ns) that
/// the time does not exceed.
fn level(ns: u64) -> usize {
    (0..)
        .find(|&level| ns <= bound_ns(level))
        .expect("the range is infinite")
}

/// Returns the upper bound of a level, in ns: 1, 2, 5, 10, …
fn bound_ns(level: usize) -> u64 {
    10u64
        .saturating_pow(level as u32 / 3)
        .saturating_mul([1, 2, 5][level % 3])
}

impl LoadStatus<'_> {
    /// Returns the rows of the view.
    fn rows(&self) -> Vec<String> {
        let mut last = Sum::default();
        self.last.iter().for_each(|slice| last.add(slice));
        let all = self.all.get(&self.current).cloned().unwrap_or_default();
        let mut rows = vec![self.title(), rates(&last)];
        rows.extend(quantiles(&last, &all));
        rows.extend([errors(&all), self.uses(&last)]);
        rows.extend(self.heat());
        rows
    }

    fn title(&self) -> String {
        let current = place_label(self.plan, self.current);
        let title = if current.is_empty() {
            &self.plan.title
        } else {
            &current
        };
        let left = format!("  {} s left", self.seconds_left());
        let title = lab_document::clean(title);
        format!("{}{}", BOLD.apply_to(title), DIM.apply_to(left))
    }

    fn uses(&self, last: &Sum) -> String {
        let cores = |ns: u64| format!("{:.2} cores", ns as f64 / last.served_in_ns.max(1) as f64);
        let newest = self.last.back();
        let server = newest.filter(|s| s.server_cpu_ns.is_some()).map(|slice| {
            let memory = slice.server_bytes.map(|bytes| format!(", {}", size(bytes)));
            let threads = slice.server_threads.unwrap_or(0);
            let memory = memory.unwrap_or_default();
            format!(
                "{}{memory}, {} threads",
                cores(last.server_cpu_ns),
                grouped(threads)
            )
        });
        let server = server.unwrap_or("-".into());
        let generator = cores(last.cpu_ns);
        format!(
            "{}{server:<36}{}{generator}",
            label("server"),
            label("generator")
        )
    }

    fn heat(&self) -> Vec<String> {
        let levels = self.heat.iter().flat_map(|column| column.counts.keys());
        let top = levels.copied().max().unwrap_or(0).max(ROWS - 1);
        let row = |row: usize| {
            let level = top - row;
            let bound = format!("{:>8}  ", time(Some(bound_ns(level))));
            // The lowest row also includes all faster requests.
            let from = if row + 1 == ROWS { 0 } else { level };
            let cells = self.heat.iter().map(|column| column.cell(from, level));
            format!("{}{}", DIM.apply_to(bound), cells.collect::<String>())
        };
        let mark = |column: &SliceColumn| if column.errors { '!' } else { ' ' };
        let marks: String = self.heat.iter().map(mark).collect();
        let errors = format!("{}{}", label("  errors"), RED.apply_to(marks));
        (0..ROWS).map(row).chain([errors]).collect()
    }
}

impl SliceColumn {
    /// Returns the cell for the levels `from` to `to`, inclusive. Its shade shows which fraction of
    /// the column's requests is in these levels.
    fn cell(&self, from: usize, to: usize) -> String {
        let within = self
            .counts
            .iter()
            .filter(|(at, _)| (from..=to).contains(*at));
        let count: u64 = within.map(|(_, n)| n).sum();
        let all: u64 = self.counts.values().sum();
        shade(count as f64 / all.max(1) as f64)
    }
}

fn rates(last: &Sum) -> String {
    let served = format!("{:<14}", rate(last.served_per_second()));
    let offered = rate(last.offered_per_second());
    let served = BOLD.apply_to(served);
    format!("{}{served}{}{offered}", label("served"), label("offered"))
}

fn quantiles(last: &Sum, all: &Sum) -> [String; 3] {
    let row = |name: &str, of: [String; 4]| {
        let cells = of.map(|cell| format!(" {cell:<10}"));
        format!("{name:<12}{}", cells.concat())
    };
    let recent = if last.wall_ns < 2 * LAST_NS {
        "last second"
    } else {
        "last slice"
    };
    let times = |sum: &Sum| [0.5, 0.9, 0.99, 1.0].map(|q| time(sum.quantile(q)));
    let head = row("", ["p50", "p90", "p99", "max"].map(String::from));
    [
        DIM.apply_to(head).to_string(),
        row(recent, times(last)),
        row("all", times(all)),
    ]
}

fn errors(all: &Sum) -> String {
    let style = if all.errors.is_empty() { PLAIN } else { RED };
    format!("{}{}", label("errors"), style.apply_to(all.errors()))
}

fn label(text: &str) -> String {
    DIM.apply_to(format!("{text:<LABEL$}")).to_string()
}

fn shade(fraction: f64) -> String {
    let shade = SHADES
        .iter()
        .find(|(from, _, _)| fraction > 0.0 && fraction >= *from);
    shade.map_or(" ".into(), |(_, symbol, color)| {
        PLAIN.color256(*color).apply_to(symbol).to_string()
    })
}

/// Lines of the terminal that are redrawn in place.
pub struct LoadView {
    terminal: Term,
    /// The number of lines above the cursor that the view has drawn.
    drawn: usize,
}

impl LoadView {
    /// Creates a view on standard error, or returns `None` if standard error is not a large enough
    /// terminal.
    pub fn on_terminal() -> Option<LoadView> {
        let terminal = Term::buffered_stderr();
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let (columns, rows) = size_of(&terminal);
        let fits = columns >= MIN_WIDTH && rows > HEIGHT;
        // An empty variable counts as unset (https://no-color.org), but the library considers it set.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        console::set_colors_enabled_stderr(!no_color);
        (terminal.is_term() && !dumb && fits).then_some(LoadView { terminal, drawn: 0 })
    }

    /// Draws the status over the previous status.
    pub fn draw(&mut self, status: &LoadStatus) {
        // A terminal that cannot be written to does not stop the load.
        let _ = self.redraw(&status.rows());
    }

    /// Removes the view from the terminal.
    pub fn clear(&mut self) {
        let _ = self.redraw(&[]);
    }

    fn redraw(&mut self, rows: &[String]) -> io::Result<()> {
        let width = WIDTH.min(size_of(&self.terminal).0);
        self.terminal.move_cursor_up(self.drawn)?;
        self.terminal.clear_to_end_of_screen()?;
        for row in rows {
            self.terminal.write_line(&truncate_str(row, width, ""))?;
        }
        self.drawn = rows.len();
        self.terminal.flush()
    }
}

/// Returns the terminal's number of columns and rows, or default numbers if the terminal does not
/// report them.
fn size_of(terminal: &Term) -> (usize, usize) {
    let size = terminal.size_checked();
    let size = size.filter(|&(rows, columns)| columns > 0 && rows > 0);
    size.map_or((WIDTH, 24), |(rows, columns)| (columns.into(), rows.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Case, Counts, ErrorKind, Measure, Point, Subject};

    fn plan() -> Plan {
        Plan {
            title: "http://127.0.0.1:8080".into(),
            subjects: [Subject::default()].into(),
            cases: [Case::default()].into(),
            points: [Point::default()].into(),
            measure: Measure {
                turn_ns: 1_000_000_000,
                ..Measure::default()
            },
            ..Plan::default()
        }
    }

    fn slice(times: &[(u64, u64)], errors: &[(ErrorKind, u64)]) -> Slice {
        Slice {
            wall_ns: 1_000_000_000,
            offered: 41_234,
            served: times.iter().map(|(_, n)| n).sum(),
            errors: errors.to_vec(),
            server_cpu_ns: Some(980_000_000),
            server_bytes: Some(45 << 20),
            server_threads: Some(12),
            cpu_ns: 610_000_000,
            response: Counts(times.to_vec()).into(),
            ..Slice::default()
        }
    }

    /// Returns the screen as shown on a terminal, without colors.
    fn screen(status: &LoadStatus) -> Vec<String> {
        let rows = status.rows();
        assert_eq!(rows.len(), HEIGHT);
        rows.iter().map(|row| row.trim_end().to_owned()).collect()
    }

    #[test]
    fn a_view_shows_the_last_second_and_all() {
        let plan = plan();
        let mut status = LoadStatus::new(&plan);
        status.add(&slice(&[(1_200_000, 90), (4_800_000, 10)], &[]), 1, 30);
        status.add(
            &slice(&[(1_900_000, 41_200)], &[(ErrorKind::Timeout, 3)]),
            2,
            30,
        );
        let screen = screen(&status);
        assert_eq!(screen[0], "http://127.0.0.1:8080  28 s left");
        assert_eq!(screen[1], "served    41,200/s      offered   41,200/s");
        assert!(screen[3].starts_with("last second  1.9 ms"), "{screen:#?}");
        assert!(
            screen[4].starts_with("all") && screen[4].ends_with("4.8 ms"),
            "{screen:#?}"
        );
        assert_eq!(screen[5], "errors    3 timeout");
        let uses = "server    0.98 cores, 45 MiB, 12 threads      generator 0.61 cores";
        assert_eq!(screen[6], uses);
        assert!(screen.contains(&"  5.0 ms  ▒".to_owned()), "{screen:#?}");
        assert!(screen.contains(&"  2.0 ms  ██".to_owned()), "{screen:#?}");
        assert_eq!(screen.last().unwrap(), "  errors   !");
    }

    #[test]
    fn steps_are_1_2_5() {
        let bounds: Vec<u64> = (0..7).map(bound_ns).collect();
        assert_eq!(bounds, [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!([0, 1, 3, 50, 51, u64::MAX].map(level), [0, 0, 2, 5, 6, 58]);
    }
}
