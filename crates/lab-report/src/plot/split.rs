// SPDX-License-Identifier: Apache-2.0
//! Where the time of an operation goes, as stacked bars: a panel for each main point, a bar for each
//! subject, from left to right the client's CPU, the server's CPU and waiting.

use super::bars::{self, PANEL_WIDTH};
use super::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use super::colour::{self, GRID};
use super::{Plot, name_of};
use crate::Error;
use crate::content::{Bar, PARTS, splits};
use crate::number::{self, Quantity};
use crate::view::View;
use lab_stats::analysis::ServerCost;
use plotters::prelude::*;

const COLUMNS: usize = 2;
const BAR: i32 = 20;
const HEAD: i32 = 34;
const LEGEND: i32 = 30;

/// The plot, if the parts of some point are known.
pub fn plot(view: &View) -> Result<Option<Plot>, Error> {
    let panels = if view.serves() { splits(view) } else { vec![] };
    let Some(most) = panels.iter().map(|(_, bars)| bars.len()).max() else {
        return Ok(None);
    };
    let height = HEAD + BAR * most as i32 + 12;
    let rows = panels.len().div_ceil(COLUMNS) as i32;
    let columns = panels.len().min(COLUMNS) as i32;
    let name = name_of(view, "parts");
    let size = (PANEL_WIDTH * columns, LEGEND + height * rows);
    let svg = canvas::draw(&name, size, |area| {
        legend(area, view)?;
        for (i, (point, bars)) in panels.iter().enumerate() {
            let (column, row) = ((i % COLUMNS) as i32, (i / COLUMNS) as i32);
            let corner = (column * PANEL_WIDTH, LEGEND + row * height);
            draw(area, &view.plan.label(*point), bars, corner)?;
        }
        Ok(())
    })?;
    let description = format!(
        "Each panel has its own scale from zero. {PARTS} The line through a bar's end is the wall time with its \
         interval; where a bar reaches beyond it, client and server worked at once."
    );
    let title = "Where the time of an operation goes".to_string();
    Ok(Some(Plot::new(&name, title, description, svg)))
}

/// The parts with their colours, in the order of the stack.
fn parts(cost: &ServerCost) -> [(f64, RGBColor); 3] {
    let estimate = |i: &lab_stats::analysis::Interval| i.estimate.max(0.0);
    let server = cost.server_ns.as_ref().map_or(0.0, estimate);
    [
        (estimate(&cost.client_ns), COLOURS[0]),
        (server, COLOURS[1]),
        (estimate(&cost.waiting_ns), COLOURS[2]),
    ]
}

/// Of the client's part, the server's and waiting.
pub const COLOURS: [RGBColor; 3] = [colour::numbered(0), colour::numbered(4), GRID];

fn legend(area: &Area, view: &View) -> Drawn<()> {
    let server = view.analysis.server_costs.iter();
    let server = server.clone().any(|c| c.server_ns.is_some());
    let parts = [
        (true, "client's CPU", COLOURS[0]),
        (server, "server's CPU", COLOURS[1]),
        (true, "waiting", COLOURS[2]),
    ];
    let mut x = 8;
    for (_, name, colour) in parts.into_iter().filter(|(there, ..)| *there) {
        let corners = [(x * UNIT, 9 * UNIT), ((x + 14) * UNIT, 21 * UNIT)];
        area.draw(&Rectangle::new(corners, colour.filled()))
            .map_err(words)?;
        let place = ((x + 19) * UNIT, 15 * UNIT);
        canvas::text(area, name, Type::Label, Side::Right, place)?;
        x += canvas::width_of(name) + 40;
    }
    Ok(())
}

fn draw(area: &Area, title: &str, bars: &[Bar], (left, top): (i32, i32)) -> Drawn<()> {
    let names = bars.iter().map(|bar| canvas::width_of(&bar.name));
    let begin = names.max().unwrap_or(0).min(PANEL_WIDTH / 3) + 14;
    let room = PANEL_WIDTH - begin - 100;
    let whole = |bar: &Bar| {
        let sum: f64 = parts(bar.cost).iter().map(|(part, _)| part).sum();
        sum.max(bars::upper(&bar.cost.wall_ns))
    };
    let most = bars.iter().map(whole).fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| {
        ((f64::from(left + begin) + value / most * f64::from(room)) * f64::from(UNIT)) as i32
    };
    let place = ((left + 8) * UNIT, (top + 18) * UNIT);
    canvas::text(area, title, Type::Heading, Side::Right, place)?;
    for (i, bar) in bars.iter().enumerate() {
        let y = top + HEAD + BAR * i as i32;
        let middle = (y + BAR / 2) * UNIT;
        let name = crate::table::cut(&bar.name, (begin as usize - 14) / 7 + 1);
        let place = ((left + begin - 6) * UNIT, middle);
        canvas::text(area, &name, Type::Label, Side::Left, place)?;
        let mut from = 0.0;
        for (part, colour) in parts(bar.cost) {
            let corners = [
                (x(from), (y + 3) * UNIT),
                (x(from + part), (y + BAR - 3) * UNIT),
            ];
            area.draw(&Rectangle::new(corners, colour.filled()))
                .map_err(words)?;
            from += part;
        }
        bars::whisker(area, &bar.cost.wall_ns, middle, &x)?;
        let value = number::alone(Quantity::Time, &bar.cost.wall_ns);
        let place = (x(whole(bar)) + 6 * UNIT, middle);
        canvas::text(area, &value, Type::Small, Side::Right, place)?;
    }
    Ok(())
}
