// SPDX-License-Identifier: Apache-2.0
//! Flame graphs (B. Gregg, *The Flame Graph*, CACM 59(6), 2016).
//!
//! The width of a frame is its function's cost. A frame is drawn above the frame of its caller, so
//! the outermost function is at the bottom. [`SCRIPT`] makes flame graphs searchable and zoomable.
//! Without it, they are still readable.

use super::canvas::{fit, legal};
use super::color::{INK, MUTED, PAPER, hex, numbered};
use crate::document::{Flame, Quantity};
use crate::format::quantity;
use crate::output::Error;

use quick_xml::escape::escape;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The script that makes all flame graphs of a page or a standalone file interactive.
pub const SCRIPT: &str = include_str!("flame.js");

const WIDTH: f64 = 960.0;
const ROW: f64 = 18.0;
const TOP: f64 = 26.0;
/// The minimum width of a frame in pixels. Narrower frames are omitted.
const MIN_WIDTH: f64 = 0.4;
/// The maximum number of frames that are drawn. The narrowest of more frames are omitted.
const MAX_FRAMES: usize = 4000;
/// The color indexes of frames. The colors have no meaning.
const COLORS: [usize; 4] = [1, 4, 8, 6];

/// A function in a call stack.
#[derive(Default)]
struct StackFrame<'f> {
    /// The cost of the function, including the functions that it calls.
    cost: u64,
    calls: BTreeMap<&'f str, StackFrame<'f>>,
}

/// A frame at its place in the drawing.
struct PlacedFrame<'f> {
    name: &'f str,
    cost: u64,
    /// The left edge in pixels.
    x: f64,
    /// The width in pixels.
    width: f64,
    /// The number of rows below the frame.
    row: usize,
}

impl<'f> StackFrame<'f> {
    /// Places a function and the functions that it calls, if they are wide enough to be visible.
    /// `placed` is the place of the function.
    fn place(&self, placed: PlacedFrame<'f>, frames: &mut Vec<PlacedFrame<'f>>) {
        if placed.width < MIN_WIDTH {
            return;
        }
        let each = placed.width / self.cost.max(1) as f64;
        let (mut x, row) = (placed.x, placed.row + 1);
        frames.push(placed);
        for (&name, call) in &self.calls {
            let (cost, width) = (call.cost, call.cost as f64 * each);
            let place = PlacedFrame {
                name,
                cost,
                x,
                width,
                row,
            };
            call.place(place, frames);
            x += width;
        }
    }
}

/// Removes all frames except for the [`MAX_FRAMES`] widest ones. Returns the number of removed
/// frames.
///
/// A function costs at least as much as the functions that it calls, so no frame loses its caller.
fn keep_widest(frames: &mut Vec<PlacedFrame>) -> usize {
    let removed = frames.len().saturating_sub(MAX_FRAMES);
    if removed > 0 {
        let mut order: Vec<usize> = (0..frames.len()).collect();
        order.sort_by_key(|&i| (Reverse(frames[i].cost), frames[i].row));
        let mut is_kept = vec![false; frames.len()];
        order[..MAX_FRAMES].iter().for_each(|&i| is_kept[i] = true);
        let mut is_kept = is_kept.into_iter();
        frames.retain(|_| is_kept.next() == Some(true));
    }
    removed
}

/// Renders the flame graph. Returns an error if the drawing cannot be written.
pub fn draw(id: &str, flame: &Flame) -> Result<String, Error> {
    let mut root = StackFrame::default();
    for (stack, cost) in &flame.stacks {
        let mut frame = &mut root;
        frame.cost = frame.cost.saturating_add(*cost);
        for function in stack {
            frame = frame.calls.entry(function).or_default();
            frame.cost = frame.cost.saturating_add(*cost);
        }
    }
    let all = PlacedFrame {
        name: "all",
        cost: root.cost,
        x: 0.0,
        width: WIDTH,
        row: 0,
    };
    let mut frames = Vec::new();
    root.place(all, &mut frames);
    let removed = keep_widest(&mut frames);
    let rows = frames.iter().map(|frame| frame.row + 1).max().unwrap_or(1);
    let height = TOP + ROW * rows as f64 + 8.0;
    let mut drawing = FlameDrawing {
        text: String::new(),
        flame,
        total: root.cost,
        bottom: height - 8.0,
    };
    let mut write = || {
        drawing.begin(height)?;
        drawing.note(removed)?;
        frames.iter().try_for_each(|frame| drawing.frame(frame))
    };
    write().map_err(|e: std::fmt::Error| Error::new(format!("plot {id}"), e))?;
    Ok(drawing.text + "</svg>\n")
}

struct FlameDrawing<'f> {
    text: String,
    flame: &'f Flame,
    total: u64,
    bottom: f64,
}

impl FlameDrawing<'_> {
    fn begin(&mut self, height: f64) -> std::fmt::Result {
        let (paper, muted) = (hex(PAPER), hex(MUTED));
        writeln!(
            self.text,
            "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
             data-flame=\"1\">\n<rect x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\" fill=\"{paper}\"/>\n\
             <text class=\"told\" x=\"4\" y=\"16\" font-size=\"12\" fill=\"{muted}\"></text>"
        )
    }

    /// Notes the number of frames that are not drawn.
    fn note(&mut self, removed: usize) -> std::fmt::Result {
        if removed == 0 {
            return Ok(());
        }
        let note = match removed {
            1 => "The narrowest frame is not drawn.".to_owned(),
            more => format!("The narrowest {more} frames are not drawn."),
        };
        writeln!(
            self.text,
            "<text x=\"{}\" y=\"16\" font-size=\"12\" text-anchor=\"end\" fill=\"{}\">{note}</text>",
            WIDTH - 4.0,
            hex(MUTED),
        )
    }

    fn frame(&mut self, frame: &PlacedFrame) -> std::fmt::Result {
        let &PlacedFrame {
            cost,
            x,
            width,
            row,
            ..
        } = frame;
        let y = self.bottom - ROW * (row + 1) as f64;
        let part = 100.0 * cost as f64 / self.total.max(1) as f64;
        let amount = quantity::short(&Quantity::exact(cost as f64, self.flame.unit.clone()));
        let name = legal(frame.name);
        let title = format!("{name}: {amount}, {part:.1} %");
        let (fill, ink) = (hex(numbered(color(&name))), hex(INK));
        let label = if width > 24.0 {
            fit(&name, width - 6.0)
        } else {
            String::new()
        };
        writeln!(
            self.text,
            "<g data-cost=\"{}\"><title>{}</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" \
             fill=\"{fill}\" fill-opacity=\"0.35\" rx=\"1\"/><text x=\"{:.2}\" y=\"{}\" font-size=\"11\" \
             fill=\"{ink}\">{}</text></g>",
            cost,
            escape(&title),
            ROW - 1.0,
            x + 3.0,
            y + 12.5,
            escape(&label),
        )
    }
}

/// Returns the color index of a frame, which depends only on the function's name.
fn color(name: &str) -> usize {
    let sum = name.bytes().fold(5381usize, |sum, byte| {
        sum.wrapping_mul(33).wrapping_add(byte.into())
    });
    COLORS[sum % COLORS.len()]
}
