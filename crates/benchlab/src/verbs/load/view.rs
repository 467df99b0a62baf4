// SPDX-License-Identifier: Apache-2.0
//! What a load does, on a terminal: rates, percentiles, errors, what the server uses, and a heat map of
//! response times, redrawn in place on standard error.
//!
//! ratatui lays it out. It is drawn by moves relative to the cursor's line: to ask the terminal where the
//! cursor is would write into standard output, which may be a pipe, and take keys that are not meant for it.

use super::words::{SubjectAtPoint, Sum, label as place_label, rate, size, time};
use lab_model::{Plan, Slice, grouped};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Modifier, Style, Stylize};
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;
use ratatui_widgets::table::{Row, Table};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use terminal_size::terminal_size_of;

/// Columns, and the fewest that it needs.
const WIDTH: u16 = 80;
const LEAST_WIDTH: u16 = 60;

/// Rows of the heat map.
const ROWS: usize = 9;

/// Rows of all.
const HEIGHT: u16 = 7 + ROWS as u16 + 1;

/// Columns of the heat map's labels.
const LABEL: u16 = 10;

/// The last slices that are shown together are of so much load, ns.
const LAST_NS: u64 = 1_000_000_000;

/// How the heat map shows a share: from which on, as what, in which colour of the 256.
const SHADES: [(f64, &str, u8); 5] = [
    (0.5, "█", 208),
    (0.2, "▓", 142),
    (0.05, "▒", 36),
    (0.01, "░", 31),
    (0.0, "·", 25),
];

/// What was seen of a load so far.
pub struct LoadStatus<'a> {
    plan: &'a Plan,
    done: u32,
    of: u32,
    /// What the last slice was of.
    place: SubjectAtPoint,
    all: HashMap<SubjectAtPoint, Sum>,
    /// The last slices of the same.
    last: VecDeque<Slice>,
    heat: VecDeque<Column>,
}

/// A slice in the heat map.
struct Column {
    /// How many requests took how long, by [`level`].
    counts: HashMap<usize, u64>,
    errors: bool,
}

impl<'a> LoadStatus<'a> {
    /// Nothing yet of a run of this plan.
    pub fn new(plan: &'a Plan) -> LoadStatus<'a> {
        LoadStatus {
            plan,
            done: 0,
            of: 0,
            place: (0, 0),
            all: HashMap::new(),
            last: VecDeque::new(),
            heat: VecDeque::new(),
        }
    }

    /// Sees a slice: the `done`th of so many.
    pub fn add(&mut self, slice: &Slice, done: u32, of: u32) {
        let place = (slice.subject, slice.point);
        if std::mem::replace(&mut self.place, place) != place {
            self.last.clear();
        }
        (self.done, self.of) = (done, of);
        self.all.entry(place).or_default().add(slice);
        self.last.push_back(slice.clone());
        let wall_ns = |last: &VecDeque<Slice>| last.iter().map(|s| s.wall_ns).sum::<u64>();
        while self.last.len() > 1 && wall_ns(&self.last) - self.last[0].wall_ns >= LAST_NS {
            self.last.pop_front();
        }
        self.heat.push_back(Column::new(slice));
        if self.heat.len() > usize::from(WIDTH - LABEL) {
            self.heat.pop_front();
        }
    }

    /// Seconds that are left, if nothing takes longer than it should.
    fn seconds_left(&self) -> u64 {
        let slices = u64::from(self.of.saturating_sub(self.done));
        (slices * self.plan.measure.turn_ns).div_ceil(1_000_000_000)
    }
}

impl Column {
    fn new(slice: &Slice) -> Column {
        let mut counts = HashMap::new();
        for &(ns, count) in &slice.response.counts().0 {
            *counts.entry(level(ns)).or_default() += count;
        }
        Column {
            counts,
            errors: !slice.errors.is_empty(),
        }
    }
}

/// Response times in steps of 1, 2, 5: which step a time is within.
fn level(ns: u64) -> usize {
    (0..)
        .find(|&level| ns <= bound_ns(level))
        .expect("steps do not end")
}

/// The upper bound of a step, ns: 1, 2, 5, 10, …
fn bound_ns(level: usize) -> u64 {
    10u64
        .saturating_pow(level as u32 / 3)
        .saturating_mul([1, 2, 5][level % 3])
}

impl Widget for &LoadStatus<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let rows = [1, 1, 3, 1, 1, ROWS as u16 + 1].map(Constraint::Length);
        let [title, rates, times, errors, uses, heat] = Layout::vertical(rows).areas(area);
        self.title().render(title, buffer);
        let mut last = Sum::default();
        self.last.iter().for_each(|slice| last.add(slice));
        let all = self.all.get(&self.place).cloned().unwrap_or_default();
        self.rates(&last).render(rates, buffer);
        Widget::render(table(&last, &all), times, buffer);
        self.errors(&all).render(errors, buffer);
        self.uses(&last).render(uses, buffer);
        self.heat(heat, buffer);
    }
}

impl LoadStatus<'_> {
    fn title(&self) -> Line<'_> {
        let place = place_label(self.plan, self.place);
        let what = if place.is_empty() {
            self.plan.title.clone()
        } else {
            place
        };
        let left = format!("  {} s left", self.seconds_left());
        Line::from(vec![what.bold(), left.dim()])
    }

    fn rates(&self, last: &Sum) -> Line<'static> {
        let served = rate(last.served_per_second());
        let offered = rate(last.offered_per_second());
        Line::from(vec![
            label("served"),
            Span::from(format!("{served:<14}")).bold(),
            label("offered"),
            Span::from(offered),
        ])
    }

    fn errors(&self, all: &Sum) -> Line<'static> {
        let words = Span::from(all.errors());
        let failed = !all.errors.is_empty();
        let words = if failed { words.fg(Color::Red) } else { words };
        Line::from(vec![label("errors"), words])
    }

    fn uses(&self, last: &Sum) -> Line<'static> {
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
        Line::from(vec![
            label("server"),
            Span::from(format!("{:<36}", server.unwrap_or("-".into()))),
            label("generator"),
            Span::from(cores(last.cpu_ns)),
        ])
    }

    fn heat(&self, area: Rect, buffer: &mut Buffer) {
        let levels = self.heat.iter().flat_map(|column| column.counts.keys());
        let top = levels.copied().max().unwrap_or(0).max(ROWS - 1);
        for row in 0..ROWS {
            let level = top - row;
            let y = area.y + row as u16;
            let bound = format!("{:>8} ", time(Some(bound_ns(level))));
            buffer.set_string(area.x, y, bound, Style::new().dim());
            for (x, column) in (area.x + LABEL..area.right()).zip(&self.heat) {
                // What is quicker than the lowest row is in it.
                let within = |at: &usize| *at == level || (row + 1 == ROWS && *at < level);
                let counts = column.counts.iter();
                let here: u64 = counts.filter(|(at, _)| within(at)).map(|(_, n)| n).sum();
                let all: u64 = column.counts.values().sum();
                let (symbol, style) = shade(here as f64 / all.max(1) as f64);
                buffer.set_string(x, y, symbol, style);
            }
        }
        let y = area.y + ROWS as u16;
        buffer.set_string(area.x, y, "  errors ", Style::new().dim());
        for (x, column) in (area.x + LABEL..area.right()).zip(&self.heat) {
            let mark = if column.errors { "!" } else { " " };
            buffer.set_string(x, y, mark, Style::new().fg(Color::Red));
        }
    }
}

fn table(last: &Sum, all: &Sum) -> Table<'static> {
    let quantiles = [0.5, 0.9, 0.99, 1.0];
    let row = |name: &'static str, sum: &Sum| {
        let times = quantiles.map(|q| time(sum.quantile(q)));
        Row::new([name.to_owned()].into_iter().chain(times))
    };
    let widths = [LABEL, 10, 10, 10, 10].map(Constraint::Length);
    Table::new(
        [row("last second", last), row("all", all)],
        [Constraint::Length(12)]
            .into_iter()
            .chain(widths.into_iter().skip(1)),
    )
    .header(Row::new(["", "p50", "p90", "p99", "max"]).dim())
}

fn label(text: &'static str) -> Span<'static> {
    Span::from(format!("{text:<10}")).dim()
}

fn shade(share: f64) -> (&'static str, Style) {
    let found = SHADES
        .iter()
        .find(|(from, _, _)| share > 0.0 && share >= *from);
    found.map_or((" ", Style::new()), |(_, symbol, colour)| {
        (symbol, Style::new().fg(Color::Indexed(*colour)))
    })
}

/// A place on the terminal that is drawn again and again.
pub struct View {
    colour: bool,
    /// Lines above the cursor that are its own.
    drawn: u16,
}

impl View {
    /// On standard error; none if that is not a terminal that it fits on.
    pub fn on_terminal() -> Option<View> {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let fits = || {
            let (columns, rows) = size_of_terminal();
            columns >= LEAST_WIDTH && rows > HEIGHT
        };
        (std::io::stderr().is_terminal() && !dumb && fits()).then_some(View {
            colour: !no_colour,
            drawn: 0,
        })
    }

    /// Draws the status over what was drawn before.
    pub fn draw(&mut self, status: &LoadStatus) {
        let area = Rect::new(0, 0, WIDTH.min(size_of_terminal().0), HEIGHT);
        let mut buffer = Buffer::empty(area);
        status.render(area, &mut buffer);
        let mut text = self.up();
        for y in 0..area.height {
            text += &line(&buffer, y, self.colour);
        }
        self.drawn = area.height;
        write(&text);
    }

    /// Takes it away.
    pub fn clear(&mut self) {
        let text = self.up() + "\x1b[J";
        if std::mem::take(&mut self.drawn) > 0 {
            write(&text);
        }
    }

    /// To its first line.
    fn up(&self) -> String {
        match self.drawn {
            0 => String::new(),
            lines => format!("\r\x1b[{lines}A"),
        }
    }
}

/// A terminal without a size is a usual one.
fn size_of_terminal() -> (u16, u16) {
    let size = terminal_size_of(std::io::stderr()).map(|(columns, rows)| (columns.0, rows.0));
    let size = size.filter(|&(columns, rows)| columns > 0 && rows > 0);
    size.unwrap_or((WIDTH, 24))
}

/// Who cannot be told does not stop the load.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A line with its styles (ECMA-48, SGR), up to its last character.
fn line(buffer: &Buffer, y: u16, colour: bool) -> String {
    let cells: Vec<_> = (0..buffer.area.width).map(|x| &buffer[(x, y)]).collect();
    let used = cells
        .iter()
        .rposition(|cell| cell.symbol() != " ")
        .map_or(0, |last| last + 1);
    let (mut text, mut style) = (String::new(), String::new());
    for cell in &cells[..used] {
        let wanted = if colour {
            sgr(cell.style())
        } else {
            String::new()
        };
        if wanted != style {
            let _ = write!(text, "\x1b[0{wanted}m");
            style = wanted;
        }
        text += cell.symbol();
    }
    if !style.is_empty() {
        text += "\x1b[0m";
    }
    text + "\x1b[K\r\n"
}

fn sgr(style: Style) -> String {
    let mut codes = String::new();
    if style.add_modifier.contains(Modifier::BOLD) {
        codes += ";1";
    }
    if style.add_modifier.contains(Modifier::DIM) {
        codes += ";2";
    }
    match style.fg {
        Some(Color::Indexed(n)) => codes += &format!(";38;5;{n}"),
        Some(Color::Red) => codes += ";31",
        _ => {}
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Case, Counts, ErrorKind, Measure, Point, Subject};

    fn plan() -> Plan {
        Plan {
            title: "http://127.0.0.1:8080".into(),
            subjects: vec![Subject::default()],
            cases: vec![Case::default()],
            points: vec![Point::default()],
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

    /// As on a terminal, without colours.
    fn screen(status: &LoadStatus) -> Vec<String> {
        let area = Rect::new(0, 0, WIDTH, HEIGHT);
        let mut buffer = Buffer::empty(area);
        status.render(area, &mut buffer);
        let lines = (0..HEIGHT).map(|y| line(&buffer, y, false));
        lines
            .map(|l| l.trim_end_matches("\x1b[K\r\n").to_owned())
            .collect()
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
    fn colours_are_those_that_a_cell_has_and_end_with_the_line() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        let red = Style::new().fg(Color::Red).bold();
        buffer.set_string(0, 0, "ab", red);
        buffer.set_string(2, 0, "c", Style::new());
        assert_eq!(line(&buffer, 0, true), "\x1b[0;1;31mab\x1b[0mc\x1b[K\r\n");
        assert_eq!(line(&buffer, 0, false), "abc\x1b[K\r\n");
    }

    #[test]
    fn steps_are_1_2_5() {
        let bounds: Vec<u64> = (0..7).map(bound_ns).collect();
        assert_eq!(bounds, [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!([0, 1, 3, 50, 51, u64::MAX].map(level), [0, 0, 2, 5, 6, 58]);
    }
}
